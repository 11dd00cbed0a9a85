// One owner for each shard of a corpus, and one campaign for a corpus.
//
//   campaigns/shard-i-of-N.lock   locked by the process that runs the shard; gone with it
//   campaigns/*.campaign          states of one campaign, or nobody may add to them
//
// Processes of other shards work beside it. The kernel lets go of a lock when its process ends,
// however that is.
#pragma once

#include <string>

#include "base/file_io.h"
#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/corpus.h"

namespace graphgate::fuzz {

// A shard that this process alone writes the state and the journal of.
class ShardClaim {
 public:
  // Waits some seconds for whoever has it. kInfrastructure, with the number of the process, where
  // that one goes on, and where no lock file can be made.
  [[nodiscard]] static Result<ShardClaim> take(const Corpus& corpus, const Shard& shard);
  ShardClaim(ShardClaim&&) noexcept = default;
  ShardClaim& operator=(ShardClaim&&) = delete;
  ~ShardClaim();

  // Makes the lock file anew where somebody has removed it. kInfrastructure where another process
  // has taken the shard since: what that one writes is not to be overwritten.
  [[nodiscard]] Result<void> hold();
  // Why the file system locks nothing; empty where it does.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  ShardClaim(std::string path, Descriptor file, std::string trouble)
      : path_(std::move(path)), file_(std::move(file)), trouble_(std::move(trouble)) {}

  std::string path_;
  Descriptor file_;
  std::string trouble_;
};

// kBadInput where the corpus holds a state of another campaign, or one that cannot be read in the
// shard's place: what is there would be lost. With `overwrites` such states are removed;
// kInfrastructure where a process is running one of them. To be called by who has the claim.
[[nodiscard]] Result<void> make_room(const Corpus& corpus, const CampaignKey& key,
                                     const Shard& shard, bool overwrites);

}  // namespace graphgate::fuzz
