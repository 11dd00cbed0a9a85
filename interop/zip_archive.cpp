#include "interop/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/libcrypto.h"
#include "base/one_line.h"

namespace graphgate::interop {

namespace {

// What an entry may unpack to: stored entries are never larger than the archive, and JSON does not
// shrink by more than this.
constexpr std::int64_t kMaxExpansion = 100;

std::string error_text(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

// Whether the machine failed, and not the archive.
bool is_machines(int code) {
  return code == ZIP_ER_OPEN || code == ZIP_ER_READ || code == ZIP_ER_SEEK || code == ZIP_ER_MEMORY;
}

// In these words, by what libzip says.
Error zip_failure(const std::string& words, zip_error_t* error) {
  return is_machines(zip_error_code_zip(error)) ? infrastructure(words) : bad_input(words);
}

// With little memory libzip takes an archive for a broken one at times: so it is asked twice.
zip_t* open_zip(int file, int& code) {
  zip_t* const archive = zip_fdopen(file, 0, &code);
  return archive != nullptr ? archive : zip_fdopen(file, 0, &code);
}

}  // namespace

ZipEntryStream::ZipEntryStream(zip_file* file) : file_(file), buffer_(std::size_t{1} << 16) {}

ZipEntryStream::~ZipEntryStream() { zip_fclose(file_); }

Error ZipEntryStream::failure(const std::string& place) const {
  return zip_failure(place + zip_file_strerror(file_), zip_file_get_error(file_));
}

ZipEntryStream::int_type ZipEntryStream::underflow() {
  const zip_int64_t got = zip_fread(file_, buffer_.data(), buffer_.size());
  failed_ = failed_ || got < 0;
  if (got <= 0) return traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(*gptr());
}

void ZipReader::Close::operator()(zip* archive) const { zip_discard(archive); }

Result<ZipReader> ZipReader::open(const std::string& path) {
  ZipReader reader;
  reader.name_ = base_name(path);
  GRAPHGATE_TRY(OpenFile opened, open_regular(path));
  reader.archive_bytes_ = opened.size_bytes;
  int code = 0;
  reader.archive_.reset(open_zip(opened.file.number(), code));
  if (reader.archive_) {
    (void)opened.file.release();  // it is the archive's now
  } else {
    const std::string words = "is not a readable zip archive: " + error_text(code);
    return (is_machines(code) ? infrastructure(words) : bad_input(words)).at(reader.name_);
  }
  GRAPHGATE_TRY_VOID(reader.list());
  return reader;
}

Result<ZipReader> ZipReader::from_bytes(std::span<const std::byte> bytes, std::string name) {
  ZipReader reader;
  reader.name_ = std::move(name);
  reader.archive_bytes_ = static_cast<std::int64_t>(bytes.size());
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) reader.archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (source != nullptr && !reader.archive_) zip_source_free(source);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!reader.archive_) {
    return bad_input("is not a readable zip archive: " + text).at(reader.name_);
  }
  GRAPHGATE_TRY_VOID(reader.list());
  return reader;
}

Result<void> ZipReader::list() {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  std::set<std::string_view> seen;
  entries_.reserve(static_cast<std::size_t>(std::max<zip_int64_t>(count, 0)));
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* entry = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
    if (entry == nullptr) {
      return zip_failure("entry " + std::to_string(i) + " has no readable name",
                         zip_get_error(archive_.get()))
          .at(name_);
    }
    // Names stand in messages, which are one line each; no tool writes such a name.
    if (one_line(entry) != entry) {
      return bad_input("entry " + std::to_string(i) + " is called '" + one_line(entry) +
                       "', with bytes that no name of a file in an archive has")
          .at(name_);
    }
    entries_.emplace_back(entry);
    if (!seen.insert(entries_.back()).second) {
      return bad_input("holds the entry '" + entries_.back() + "' twice").at(name_);
    }
  }
  return {};
}

bool ZipReader::contains(std::string_view entry) const {
  return std::find(entries_.begin(), entries_.end(), entry) != entries_.end();
}

Result<std::int64_t> ZipReader::size_bytes(std::string_view entry) const {
  zip_stat_t info;
  if (zip_stat(archive_.get(), std::string(entry).c_str(), 0, &info) != 0) {
    return bad_input("has no entry '" + std::string(entry) + "'").at(name_);
  }
  const auto bytes = static_cast<std::int64_t>(info.size);
  const bool packed = info.comp_method != ZIP_CM_STORE;
  if (bytes < 0 || bytes / (packed ? kMaxExpansion : 1) > archive_bytes_) {
    return bad_input("entry '" + std::string(entry) + "' claims " + std::to_string(info.size) +
                     " bytes, more than an archive of " + std::to_string(archive_bytes_) +
                     " bytes can hold")
        .at(name_);
  }
  return bytes;
}

Result<std::unique_ptr<ZipEntryStream>> ZipReader::stream(std::string_view entry) const {
  GRAPHGATE_TRY_VOID(size_bytes(entry));
  zip_file_t* file = zip_fopen(archive_.get(), std::string(entry).c_str(), 0);
  if (file == nullptr) {
    return zip_failure("entry '" + std::string(entry) + "': " + zip_strerror(archive_.get()),
                       zip_get_error(archive_.get()))
        .at(name_);
  }
  return std::make_unique<ZipEntryStream>(file);
}

Result<void> ZipReader::read_into(std::string_view entry, std::span<std::byte> out) const {
  GRAPHGATE_TRY(const auto entry_stream, stream(entry));
  const auto wanted = static_cast<std::streamsize>(out.size());
  const auto got = entry_stream->sgetn(reinterpret_cast<char*>(out.data()), wanted);
  // One read more, so that the end is reached and the CRC checked.
  const bool ends = got == wanted && entry_stream->sgetc() == std::char_traits<char>::eof();
  if (entry_stream->failed()) {
    return entry_stream->failure("entry '" + std::string(entry) + "': ").at(name_);
  }
  if (!ends) {
    return bad_input("entry '" + std::string(entry) + "' is not as long as it claims").at(name_);
  }
  return {};
}

Result<std::vector<std::byte>> ZipReader::read(std::string_view entry) const {
  GRAPHGATE_TRY(const std::int64_t size, size_bytes(entry));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  GRAPHGATE_TRY_VOID(read_into(entry, bytes));
  return bytes;
}

Result<std::string> ZipReader::read_text(std::string_view entry) const {
  GRAPHGATE_TRY(const std::int64_t size, size_bytes(entry));
  std::string text(static_cast<std::size_t>(size), '\0');
  GRAPHGATE_TRY_VOID(read_into(entry, std::as_writable_bytes(std::span(text))));
  return text;
}

namespace {

// Adds one stored entry; the archive reads its bytes when it is closed.
bool add_entry(zip_t* archive, const ZipEntry& entry) {
  zip_source_t* source = zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0);
  if (source == nullptr) return false;
  const zip_int64_t index = zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return false;
  }
  const auto position = static_cast<zip_uint64_t>(index);
  constexpr zip_uint16_t kFirstOfJanuary1980 = 0x21;
  return zip_set_file_compression(archive, position, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, position, 0, kFirstOfJanuary1980, 0) == 0;
}

}  // namespace

Result<void> write_zip(const std::string& path, std::span<const ZipEntry> entries) {
  require_libcrypto();
  GRAPHGATE_TRY(AtomicFile file, AtomicFile::create(path));
  int code = 0;
  zip_t* archive = zip_open(file.temporary_path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) return infrastructure("cannot be written: " + error_text(code)).at(path);
  bool good = true;
  for (const ZipEntry& entry : entries) good = good && add_entry(archive, entry);
  if (!good || zip_close(archive) != 0) {
    const std::string text = zip_strerror(archive);
    zip_discard(archive);
    return infrastructure("cannot be written: " + text).at(path);
  }
  return file.commit();
}

}  // namespace graphgate::interop
