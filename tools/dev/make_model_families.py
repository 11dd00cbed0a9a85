#!/usr/bin/env python3
"""Exports tiny models of many families with random weights, each with a recording of two calls.

    PYTHONPATH=tools/adapters/torch make_model_families.py [--dtype bfloat16] [--list] OUT_DIR [NAME...]

NAME.pt2 is the program as torch.export leaves it, NAME.core.pt2 the same behind run_decompositions().
Nothing is fetched. What cannot be made or exported is a line on standard error, and the others go on.
Needs PyTorch, safetensors and transformers.

A model of transformers is a row of FAMILIES: its class, what its configuration says beside SMALL, and
its inputs, where they are not those of its main input. Modules in plain PyTorch are in
model_families_plain.py.
"""

import argparse
import inspect
import os
import sys
import time
import warnings

import torch

import graphgate_torch.export

import model_families_plain

TOKENS, WIDTH, LAYERS, HEADS = 99, 32, 2, 4

# What makes a configuration small, by the name of the field, wherever a configuration has it.
SMALL = {
    "vocab_size": TOKENS, "text_vocab_size": TOKENS, "type_vocab_size": 2,
    "decoder_vocab_size": TOKENS, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 1, "max_position_embeddings": 64, "n_positions": 64, "n_ctx": 64,
    "max_source_positions": 64, "max_target_positions": 32,
    "hidden_size": WIDTH, "d_model": WIDTH, "n_embd": WIDTH, "dim": WIDTH, "embedding_size": WIDTH,
    "decoder_hidden_size": WIDTH, "decoder_intermediate_size": 48, "projection_dim": 16,
    "intermediate_size": 48, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24,
    "ffn_dim": 48, "d_ff": 48, "hidden_dim": 48, "ffn_hidden_size": 48, "d_inner": 48, "n_inner": 48,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "num_hidden_layers": LAYERS, "num_layers": LAYERS, "n_layer": LAYERS, "n_layers": LAYERS,
    "encoder_layers": LAYERS, "decoder_layers": LAYERS, "num_decoder_layers": LAYERS,
    "decoder_num_hidden_layers": LAYERS, "num_encoder_layers": LAYERS,
    "num_attention_heads": HEADS, "num_heads": HEADS, "n_head": HEADS, "n_heads": HEADS,
    "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
    "decoder_num_attention_heads": HEADS, "num_key_value_heads": 2, "n_group": 1, "topk_group": 1,
    "head_dim": 8, "d_kv": 8, "image_size": 32, "patch_size": 8, "num_experts": 4,
    "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "use_cache": False,
}


def tokens(batch=2, length=8):
    return lambda config: {"input_ids": torch.randint(3, TOKENS, (batch, length))}


def text_pair(length=8):
    return lambda config: {
        "input_ids": torch.randint(3, TOKENS, (2, length)),
        "decoder_input_ids": torch.randint(3, TOKENS, (2, length - 1)),
    }


def masked(length=8):
    """Tokens whose second row is padded."""
    def make(config):
        mask = torch.ones(2, length, dtype=torch.long)
        mask[1, length - 3:] = 0
        return {"input_ids": torch.randint(3, TOKENS, (2, length)), "attention_mask": mask}
    return make


def image(size=32, channels=3, batch=2):
    return lambda config: {"pixel_values": torch.rand(batch, channels, size, size)}


def image_and_text(size=32, length=7):
    return lambda config: {
        "pixel_values": torch.rand(2, 3, size, size),
        "input_ids": torch.randint(3, TOKENS, (2, length)),
        "attention_mask": torch.ones(2, length, dtype=torch.long),
    }


def wave(length=800, name="input_values"):
    return lambda config: {name: torch.randn(2, length)}


def features(*sizes, name="input_features", **more):
    def make(config):
        made = {name: torch.randn(2, *sizes)}
        for key, length in more.items():
            made[key] = torch.randint(3, TOKENS, (2, length))
        return made
    return make


def series(length=24, horizon=4, future=True):
    """A history of numbers with its features of time."""
    def make(config):
        past = length + max(getattr(config, "lags_sequence", [0]))
        made = {
            "past_values": torch.rand(2, past),
            "past_time_features": torch.rand(2, past, config.num_time_features),
            "past_observed_mask": torch.ones(2, past),
        }
        if future:
            made["future_values"] = torch.rand(2, horizon)
            made["future_time_features"] = torch.rand(2, horizon, config.num_time_features)
        return made
    return make


_SERIES = {
    "prediction_length": 4, "context_length": 24, "lags_sequence": [1, 2, 3], "num_time_features": 2,
    "num_parallel_samples": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16,
}
_STAGES = {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 2, "patch_size": 2}
_WAVE = {
    "conv_dim": (8, 8), "conv_stride": (4, 4), "conv_kernel": (8, 4), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "apply_spec_augment": False,
}

_BACKBONE = {
    "model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1],
    "out_features": ["stage4"],
}

# Family: its class, what its configuration says beside SMALL, and its inputs.
FAMILIES = {
    # Encoders of text.
    "bert": ("BertForMaskedLM", {}, masked()),
    "roberta": ("RobertaForMaskedLM", {}, masked()),
    "albert": ("AlbertForMaskedLM", {}, masked()),
    "electra": ("ElectraForPreTraining", {}, masked()),
    "deberta": ("DebertaForMaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, masked()),
    "deberta_v2": ("DebertaV2ForMaskedLM", {
        "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8,
        "norm_rel_ebd": "layer_norm", "conv_kernel_size": 3}, masked()),
    "mpnet": ("MPNetForMaskedLM", {}, masked()),
    "distilbert": ("DistilBertForMaskedLM", {}, masked()),
    "big_bird": ("BigBirdForMaskedLM", {"attention_type": "original_full"}, masked()),
    "big_bird_sparse": ("BigBirdModel", {"block_size": 2, "num_random_blocks": 1}, tokens(2, 16)),
    "funnel": ("FunnelModel", {"block_sizes": [1, 1], "d_head": 8, "num_decoder_layers": 1}, masked()),
    "xlnet": ("XLNetLMHeadModel", {}, tokens()),
    "reformer": ("ReformerModelWithLMHead", {
        "attn_layers": ["local", "lsh"], "axial_pos_shape": [4, 4], "axial_pos_embds_dim": [16, 16],
        "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "num_buckets": 2, "num_hashes": 1,
        "attention_head_size": 8, "feed_forward_size": 48, "is_decoder": True, "hash_seed": 1}, tokens(2, 16)),
    "modernbert": ("ModernBertForMaskedLM", {"local_attention": 4}, masked()),
    "fnet": ("FNetModel", {}, tokens()),
    "squeezebert": ("SqueezeBertModel", {}, masked()),
    "mobilebert": ("MobileBertModel", {"intra_bottleneck_size": 16, "embedding_size": 16}, masked()),
    "roformer": ("RoFormerModel", {"embedding_size": 32}, masked()),
    "canine": ("CanineModel", {
        "downsampling_rate": 4, "local_transformer_stride": 8, "num_hash_buckets": 64}, tokens(2, 16)),
    "mra": ("MraModel", {}, tokens(2, 32)),
    "yoso": ("YosoModel", {"use_expectation": True}, tokens()),
    "luke": ("LukeModel", {"entity_vocab_size": 20, "entity_emb_size": 16}, tokens()),
    "tapas": ("TapasModel", {}, tokens()),
    "esm": ("EsmForMaskedLM", {"position_embedding_type": "rotary", "mask_token_id": 4}, masked()),
    "perceiver": ("PerceiverForMaskedLM", {
        "num_latents": 4, "d_latents": 16, "d_model": 16, "num_blocks": 1, "num_self_attends_per_block": 1,
        "num_self_attention_heads": 2, "num_cross_attention_heads": 2, "qk_channels": 8, "v_channels": 16,
        "max_position_embeddings": 8}, lambda config: {"inputs": torch.randint(3, TOKENS, (2, 8))}),
    # Decoders of text.
    "gpt2": ("GPT2LMHeadModel", {}, masked()),
    "gpt_neo": ("GPTNeoForCausalLM", {"attention_types": [[["global", "local"], 1]], "window_size": 4}, masked()),
    "gpt_neox": ("GPTNeoXForCausalLM", {}, masked()),
    "gptj": ("GPTJForCausalLM", {"rotary_dim": 4}, masked()),
    "opt": ("OPTForCausalLM", {"word_embed_proj_dim": 16}, masked()),
    "bloom": ("BloomForCausalLM", {}, masked()),
    "llama": ("LlamaForCausalLM", {}, masked()),
    "mistral": ("MistralForCausalLM", {"sliding_window": 4}, masked()),
    "mixtral": ("MixtralForCausalLM", {}, tokens()),
    "qwen2": ("Qwen2ForCausalLM", {}, masked()),
    "qwen2_moe": ("Qwen2MoeForCausalLM", {}, tokens()),
    "qwen3": ("Qwen3ForCausalLM", {}, masked()),
    "qwen3_next": ("Qwen3NextForCausalLM", {
        "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
        "linear_value_head_dim": 8, "layer_types": ["linear_attention", "full_attention"]}, tokens()),
    "gemma": ("GemmaForCausalLM", {}, masked()),
    "gemma2": ("Gemma2ForCausalLM", {"sliding_window": 4}, masked()),
    "gemma3": ("Gemma3ForCausalLM", {"sliding_window": 4}, masked()),
    "recurrent_gemma": ("RecurrentGemmaForCausalLM", {
        "lru_width": 32, "attention_window_size": 4, "block_types": ["recurrent", "attention"]}, tokens()),
    "phi3": ("Phi3ForCausalLM", {"sliding_window": 4}, masked()),
    "falcon": ("FalconForCausalLM", {"alibi": False, "new_decoder_architecture": False}, masked()),
    "falcon_alibi": ("FalconForCausalLM", {"alibi": True}, masked()),
    "falcon_h1": ("FalconH1ForCausalLM", {
        "mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1,
        "mamba_chunk_size": 4}, tokens()),
    "mamba": ("MambaForCausalLM", {"state_size": 4, "time_step_rank": 2}, tokens()),
    "mamba2": ("Mamba2ForCausalLM", {
        "num_heads": 8, "head_dim": 8, "state_size": 4, "n_groups": 2, "chunk_size": 4}, tokens()),
    "rwkv": ("RwkvForCausalLM", {"attention_hidden_size": 32, "context_length": 16}, tokens()),
    "xlstm": ("xLSTMForCausalLM", {"num_blocks": 2, "chunk_size": 4, "mode": "inference"}, tokens()),
    "olmo": ("OlmoForCausalLM", {}, masked()),
    "olmo2": ("Olmo2ForCausalLM", {}, masked()),
    "cohere": ("CohereForCausalLM", {}, masked()),
    "granite": ("GraniteForCausalLM", {}, masked()),
    "granitemoehybrid": ("GraniteMoeHybridForCausalLM", {
        "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_chunk_size": 4,
        "shared_intermediate_size": 24, "layer_types": ["mamba", "attention"]}, tokens()),
    "deepseek_v3": ("DeepseekV3ForCausalLM", {
        "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8,
        "first_k_dense_replace": 1, "num_key_value_heads": 4, "n_group": 2, "topk_group": 1,
        "head_dim": 4}, tokens()),
    "gpt_oss": ("GptOssForCausalLM", {"sliding_window": 4, "rope_scaling": None}, tokens()),
    "jamba": ("JambaForCausalLM", {
        "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1,
        "mamba_d_state": 4, "mamba_dt_rank": 2, "use_mamba_kernels": False}, tokens()),
    "bamba": ("BambaForCausalLM", {
        "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_chunk_size": 4,
        "attn_layer_indices": [1]}, tokens()),
    "zamba2": ("Zamba2ForCausalLM", {
        "mamba_d_state": 4, "n_mamba_heads": 4, "mamba_headdim": 16, "chunk_size": 4, "mamba_ngroups": 1,
        "hybrid_layer_ids": [1], "layers_block_type": ["mamba", "hybrid"], "num_mem_blocks": 1}, tokens()),
    "nemotron": ("NemotronForCausalLM", {}, masked()),
    "stablelm": ("StableLmForCausalLM", {}, masked()),
    "starcoder2": ("Starcoder2ForCausalLM", {"sliding_window": 4}, masked()),
    "persimmon": ("PersimmonForCausalLM", {}, masked()),
    "dbrx": ("DbrxForCausalLM", {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32,
                       "ffn_act_fn": {"name": "silu"}}}, tokens()),
    "lfm2": ("Lfm2ForCausalLM", {"layer_types": ["conv", "full_attention"]}, tokens()),
    "minimax": ("MiniMaxForCausalLM", {
        "block_size": 4, "layer_types": ["linear_attention", "full_attention"]}, tokens()),
    "diffllama": ("DiffLlamaForCausalLM", {}, tokens()),
    "llama4_text": ("Llama4ForCausalLM", {
        "intermediate_size_mlp": 48, "attention_chunk_size": 4}, tokens()),
    "gemma3n_text": ("Gemma3nForCausalLM", {
        "vocab_size_per_layer_input": TOKENS, "hidden_size_per_layer_input": 8, "laurel_rank": 4,
        "num_kv_shared_layers": 0, "activation_sparsity_pattern": [0.5, 0.0], "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"]}, tokens()),
    # Encoder and decoder of text.
    "t5": ("T5ForConditionalGeneration", {}, text_pair()),
    "bart": ("BartForConditionalGeneration", {}, text_pair()),
    "mbart": ("MBartForConditionalGeneration", {}, text_pair()),
    "pegasus": ("PegasusForConditionalGeneration", {}, text_pair()),
    "pegasus_x": ("PegasusXForConditionalGeneration", {"block_size": 4, "num_global_tokens": 2}, text_pair()),
    "marian": ("MarianMTModel", {}, text_pair()),
    "m2m_100": ("M2M100ForConditionalGeneration", {}, text_pair()),
    "prophetnet": ("ProphetNetForConditionalGeneration", {
        "ngram": 2, "num_buckets": 8, "relative_max_distance": 16, "num_decoder_attention_heads": 4,
        "num_encoder_attention_heads": 4}, text_pair()),
    # Images.
    "vit": ("ViTForImageClassification", {}, image()),
    "deit": ("DeiTForImageClassification", {}, image()),
    "beit": ("BeitForImageClassification", {"use_relative_position_bias": True}, image()),
    "swin": ("SwinForImageClassification", _STAGES, image(16)),
    "swinv2": ("Swinv2ForImageClassification", _STAGES, image(16)),
    "swin2sr": ("Swin2SRForImageSuperResolution", {**_STAGES, "patch_size": 1}, image(8)),
    "convnext": ("ConvNextForImageClassification", {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2,
        "patch_size": 4}, image()),
    "convnextv2": ("ConvNextV2ForImageClassification", {"hidden_sizes": [8, 16], "depths": [1, 1],
        "num_stages": 2, "patch_size": 4}, image()),
    "resnet": ("ResNetForImageClassification", {
        "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2,
        "layer_type": "basic"}, image()),
    "bit": ("BitForImageClassification", {
        "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_groups": 2}, image()),
    "regnet": ("RegNetForImageClassification", {
        "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "groups_width": 4}, image()),
    "mobilenet_v1": ("MobileNetV1ForImageClassification", {"depth_multiplier": 0.25, "min_depth": 4}, image()),
    "mobilenet_v2": ("MobileNetV2ForImageClassification", {"depth_multiplier": 0.25, "min_depth": 4,
        "depth_divisible_by": 4}, image()),
    "mobilevit": ("MobileViTForImageClassification", {
        "hidden_sizes": [16, 16, 16], "neck_hidden_sizes": [8, 8, 8, 8, 16, 16, 16], "patch_size": 2,
        "expand_ratio": 1.0}, image(64)),
    "mobilevitv2": ("MobileViTV2ForImageClassification", {
        "base_attn_unit_dims": [16, 16, 16], "width_multiplier": 0.25, "patch_size": 2}, image(64)),
    "efficientnet": ("EfficientNetForImageClassification", {
        "width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320}, image()),
    "segformer": ("SegformerForSemanticSegmentation", {
        "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2],
        "decoder_hidden_size": 16}, image()),
    "pvt": ("PvtForImageClassification", {
        "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2],
        "mlp_ratios": [2, 2, 2, 2]}, image()),
    "poolformer": ("PoolFormerForImageClassification", {
        "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16]}, image()),
    "levit": ("LevitForImageClassification", {
        "hidden_sizes": [16, 16, 16], "num_attention_heads": [2, 2, 2], "depths": [1, 1, 1], "key_dim": [4, 4, 4],
        "image_size": 64, "patch_size": 16}, image(64)),
    "focalnet": ("FocalNetForImageClassification", {
        "embed_dim": 8, "depths": [1, 1], "focal_levels": [1, 1], "focal_windows": [3, 3],
        "hidden_sizes": [8, 16], "patch_size": 4}, image()),
    "hiera": ("HieraModel", {
        "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "image_size": [32, 32], "patch_size": [7, 7],
        "query_stride": [2, 2], "num_query_pool": 1, "masked_unit_size": [4, 4]}, image()),
    "swiftformer": ("SwiftFormerForImageClassification", {
        "depths": [1, 1, 1, 1], "embed_dims": [8, 8, 16, 16]}, image()),
    "detr": ("DetrForObjectDetection", {
        "backbone_config": _BACKBONE, "num_queries": 5, "use_timm_backbone": False}, image(64)),
    "yolos": ("YolosForObjectDetection", {
        "num_detection_tokens": 4, "image_size": [32, 32], "use_mid_position_embeddings": False}, image()),
    "dpt": ("DPTForDepthEstimation", {
        "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 8, 8],
        "fusion_hidden_size": 8, "reassemble_factors": [4, 2, 1, 0.5]}, image()),
    "glpn": ("GLPNForDepthEstimation", {
        "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2],
        "decoder_hidden_size": 8}, image()),
    "sam": ("SamVisionModel", {"num_pos_feats": 4, "output_channels": 8, "window_size": 2,
        "global_attn_indexes": [1]}, image()),
    "timesformer": ("TimesformerModel", {"num_frames": 2}, features(2, 3, 32, 32, name="pixel_values")),
    "videomae": ("VideoMAEModel", {"num_frames": 2}, features(2, 3, 32, 32, name="pixel_values")),
    "vivit": ("VivitModel", {"num_frames": 2, "tubelet_size": [2, 8, 8]}, features(2, 3, 32, 32, name="pixel_values")),
    "vjepa2": ("VJEPA2Model", {"frames_per_clip": 2, "crop_size": 32, "pred_hidden_size": 16,
        "pred_num_attention_heads": 2,
        "pred_num_hidden_layers": 1, "pred_num_mask_tokens": 2}, features(2, 3, 32, 32, name="pixel_values_videos")),
    # Images and text.
    "clip": ("CLIPModel", {}, image_and_text()),
    "siglip": ("SiglipModel", {}, image_and_text()),
    "clipseg": ("CLIPSegForImageSegmentation", {"extract_layers": [0, 1], "reduce_dim": 8,
        "decoder_num_attention_heads": 2,
        "decoder_intermediate_size": 16}, image_and_text()),
    "groupvit": ("GroupViTModel", {"depths": [1, 1], "num_group_tokens": [4, 0], "num_output_groups": [4, 4]},
        image_and_text()),
    "owlvit": ("OwlViTModel", {}, image_and_text()),
    "blip": ("BlipForConditionalGeneration", {}, image_and_text()),
    "flava": ("FlavaModel", {}, image_and_text()),
    "git": ("GitForCausalLM", {}, image_and_text()),
    "visual_bert": ("VisualBertModel", {"visual_embedding_dim": 8}, masked()),
    "lxmert": ("LxmertModel", {"l_layers": 1, "x_layers": 1, "r_layers": 1, "visual_feat_dim": 8}, lambda config: {
        "input_ids": torch.randint(3, TOKENS, (2, 8)), "visual_feats": torch.rand(2, 3, 8),
        "visual_pos": torch.rand(2, 3, 4)}),
    # Sound.
    "whisper": ("WhisperForConditionalGeneration", {
        "num_mel_bins": 8, "max_source_positions": 16}, features(8, 32, decoder_input_ids=6)),
    "wav2vec2": ("Wav2Vec2ForCTC", _WAVE, wave()),
    "wav2vec2_conformer": ("Wav2Vec2ConformerModel", {**_WAVE, "position_embeddings_type": "rotary"}, wave()),
    "wav2vec2_bert": ("Wav2Vec2BertModel", {"feature_projection_input_dim": 8, "apply_spec_augment": False},
        features(16, 8)),
    "hubert": ("HubertForCTC", _WAVE, wave()),
    "wavlm": ("WavLMModel", _WAVE, wave()),
    "sew": ("SEWModel", {**_WAVE, "squeeze_factor": 2}, wave()),
    "sew_d": ("SEWDModel", {**_WAVE, "squeeze_factor": 2, "position_buckets": 8}, wave()),
    "data2vec_audio": ("Data2VecAudioModel", {**_WAVE, "num_conv_pos_embeddings": 2,
        "conv_pos_kernel_size": 3}, wave()),
    "speecht5": ("SpeechT5ForTextToSpeech", {
        "num_mel_bins": 8, "speech_decoder_prenet_units": 16, "speech_decoder_prenet_dropout": 0.0,
        "speaker_embedding_dim": 8, "speech_decoder_postnet_units": 16, "reduction_factor": 1}, lambda config: {
        "input_ids": torch.randint(3, TOKENS, (2, 8)), "decoder_input_values": torch.randn(2, 6, 8),
        "speaker_embeddings": torch.randn(2, 8)}),
    "speech_to_text": ("Speech2TextForConditionalGeneration", {
        "input_feat_per_channel": 8, "conv_channels": 16}, features(32, 8, decoder_input_ids=6)),
    "dac": ("DacModel", {
        "encoder_hidden_size": 4, "decoder_hidden_size": 8, "downsampling_ratios": [2, 2], "upsampling_ratios": [2, 2],
        "n_codebooks": 2, "codebook_size": 16, "codebook_dim": 4, "hidden_size": 16},
        lambda config: {"input_values": torch.randn(1, 1, 64)}),
    "vits": ("VitsModel", {
        "hidden_size": 16, "flow_size": 16, "spectrogram_bins": 8, "ffn_dim": 16, "upsample_initial_channel": 16,
        "upsample_rates": [2, 2], "upsample_kernel_sizes": [4, 4], "resblock_kernel_sizes": [3],
        "resblock_dilation_sizes": [[1, 2]], "prior_encoder_num_flows": 1, "prior_encoder_num_wavenet_layers": 1,
        "posterior_encoder_num_wavenet_layers": 1, "duration_predictor_num_flows": 1,
        "depth_separable_num_layers": 1, "num_attention_heads": 2}, tokens()),
    "univnet": ("UnivNetModel", {
        "model_hidden_channels": 8, "num_mel_bins": 8, "model_in_channels": 8, "resblock_kernel_sizes": [3],
        "resblock_stride_sizes": [2], "resblock_dilation_sizes": [[1, 3]], "kernel_predictor_hidden_channels": 8,
        "kernel_predictor_num_blocks": 1}, lambda config: {"input_features": torch.randn(1, 8, 8),
        "noise_sequence": torch.randn(1, 8, 8)}),
    "musicgen": ("MusicgenForCausalLM", {"num_codebooks": 2, "audio_channels": 1}, lambda config: {
        "input_ids": torch.randint(3, TOKENS, (4, 6))}),
    "bark": ("BarkCausalModel", {"input_vocab_size": TOKENS, "output_vocab_size": TOKENS, "block_size": 16}, tokens()),
    "seamless_m4t": ("SeamlessM4TForTextToText", {
        "speech_encoder_layers": 1, "speech_encoder_attention_heads": 4, "speech_encoder_intermediate_size": 16,
        "feature_projection_input_dim": 8, "t2u_vocab_size": 20}, text_pair()),
    "clap": ("ClapAudioModel", {
        "spec_size": 32, "num_mel_bins": 8, "patch_embeds_hidden_size": 8, "depths": [1, 1], "window_size": 2,
        "num_attention_heads": [2, 2], "patch_size": 2, "patch_stride": 2, "hidden_size": 16},
        features(1, 32, 8)),
    "audio_spectrogram_transformer": ("ASTForAudioClassification", {
        "max_length": 24, "num_mel_bins": 16, "frequency_stride": 4, "time_stride": 4}, features(24, 16,
        name="input_values")),
    "moonshine": ("MoonshineForConditionalGeneration", {}, lambda config: {
        "input_values": torch.randn(2, 2000), "decoder_input_ids": torch.randint(3, TOKENS, (2, 6))}),
    "parakeet": ("ParakeetEncoder", {"num_mel_bins": 16, "subsampling_conv_channels": 8,
        "subsampling_factor": 4}, features(32, 16)),
    # Series of numbers.
    "time_series_transformer": ("TimeSeriesTransformerModel", _SERIES, series()),
    "informer": ("InformerModel", {**_SERIES, "distil": False}, series()),
    "patchtst": ("PatchTSTForPrediction", {
        "num_input_channels": 2, "context_length": 24, "patch_length": 4, "patch_stride": 4, "prediction_length": 4},
        features(24, 2, name="past_values")),
    "patchtsmixer": ("PatchTSMixerForPrediction", {
        "num_input_channels": 2, "context_length": 24, "patch_length": 4, "patch_stride": 4, "prediction_length": 4},
        features(24, 2, name="past_values")),
    "decision_transformer": ("DecisionTransformerModel", {
        "state_dim": 4, "act_dim": 2, "max_ep_len": 16}, lambda config: {
        "states": torch.randn(1, 5, 4), "actions": torch.randn(1, 5, 2), "rewards": torch.randn(1, 5, 1),
        "returns_to_go": torch.randn(1, 5, 1), "timesteps": torch.arange(5)[None],
        "attention_mask": torch.ones(1, 5, dtype=torch.long)}),
}

def _has_field(config_class, name):
    """Whether `name` can be set, and is no computed property."""
    if name in inspect.signature(config_class.__init__).parameters:
        return True
    return hasattr(config_class, name) and not isinstance(getattr(config_class, name), property)


def configuration(kind, more):
    """The configuration of class `kind`, made small."""
    config_class = kind.config_class
    fields = {**{name: value for name, value in SMALL.items() if _has_field(config_class, name)}, **more}
    parts = {}
    for name, part in getattr(config_class, "sub_configs", {}).items():
        if part.__name__ == "AutoConfig" or name in more:
            continue
        parts[name] = {field: value for field, value in {**SMALL, **more}.items() if _has_field(part, field)}
    return config_class(**parts, **{name: value for name, value in fields.items()
                                    if name not in getattr(config_class, "attribute_map", {}) or name in more})


def transformers_model(name, dtype):
    """The model and two calls of it, as graphgate_torch.export.load returns them."""
    import transformers

    kind_name, more, inputs = FAMILIES[name]
    kind = getattr(transformers, kind_name)
    torch.manual_seed(0)
    model = kind(configuration(kind, more)).eval()
    # Matrices of a real size: what a fresh model returns is close to 0.
    with torch.no_grad():
        for weight in model.parameters():
            if weight.is_floating_point() and weight.dim() == 2:
                weight.mul_(4)
    calls = [inputs(model.config) for _ in range(2)]
    if dtype is not torch.float32:
        model = model.to(dtype)
        calls = [{key: value.to(dtype) if getattr(value, "is_floating_point", bool)() else value
                  for key, value in call.items()} for call in calls]
    return {"module": model, "calls": [()] * 2, "kwargs": calls}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--list", action="store_true", help="say the names, and make nothing")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    plain = model_families_plain.MODELS
    names = options.names or [*FAMILIES, *plain]
    if options.list:
        print("\n".join(names))
        return 0
    if options.folder is None:
        parser.error("expected a folder to write to")
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.makedirs(options.folder, exist_ok=True)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    dtype = getattr(torch, options.dtype)
    suffix = "" if dtype is torch.float32 else "_" + {"bfloat16": "bf16", "float16": "f16"}[options.dtype]
    failed = 0
    for name in names:
        begin = time.process_time()
        path = os.path.join(options.folder, f"{name}{suffix}.pt2")
        try:
            model = plain[name](dtype) if name in plain else transformers_model(name, dtype)
            graphgate_torch.export.export(model, path, decompose=True)
            print(f"{name}: {time.process_time() - begin:.1f} s", flush=True)
        except Exception as error:
            failed += 1
            said = (str(error).strip().splitlines() or [""])[0]
            print(f"{name}: {type(error).__name__}: {said[:300]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
