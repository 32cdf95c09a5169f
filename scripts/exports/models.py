"""The models that `scripts/ops-seen --exports` exports: one of each architecture, its smallest member or a reduced one, with
random weights and at most 50 M parameters. Each entry is a function that returns the model and its inputs. The list is fixed:
an entry that fails stays in the list.
"""
import torch
import torchvision.models as tv
import torchvision.ops as ops
import transformers as hf
from torch import nn
from torchvision.models import convnext, detection, maxvit, swin_transformer, vision_transformer
from torchvision.models.video import mvit, swin_transformer as swin3d

PLAIN = {"weights": None, "num_classes": 10}
HEADLESS = {"weights": None, "weights_backbone": None, "num_classes": 4}


def image(size=64, batch=1):
    return (torch.randn(batch, 3, size, size),)


def video(frames=4, size=32):
    return (torch.randn(1, 3, frames, size, size),)


def without_classifier(model):
    """Of models whose classifier alone has more parameters than the limit."""
    return nn.Sequential(model.features, model.avgpool, nn.Flatten())


def classifier(build, size=64, **options):
    return lambda: (build(**PLAIN, **options), image(size))


def head(build, channels=16):
    """The head of a detector: what follows its backbone, on three feature maps."""
    return lambda: (build(), ([torch.randn(1, channels, size, size) for size in (16, 8, 4)],))


def small_s3d():
    model = tv.video.s3d(weights=None, num_classes=5)
    model.avgpool = nn.AdaptiveAvgPool3d(1)  # the model's own expects 224 x 224
    return model


def small_mvit(version):
    blocks = [mvit.MSBlockConfig(1, 16, 16, [3, 3, 3], [1, 4, 4], [1, 1, 1], [1, 1, 1]),
              mvit.MSBlockConfig(2, 16, 32, [3, 3, 3], [1, 2, 2], [1, 2, 2], [1, 2, 2])]
    second = version == 2
    return mvit.MViT((32, 32), 4, blocks, residual_pool=second, residual_with_cls_embed=not second, num_classes=5,
                     rel_pos_embed=second, proj_after_attn=second)


TORCHVISION = {
    "alexnet": lambda: (without_classifier(tv.alexnet(**PLAIN)), image()),
    "convnext": lambda: (convnext.ConvNeXt([convnext.CNBlockConfig(16, 32, 1), convnext.CNBlockConfig(32, None, 1)],
                                           num_classes=10), image(32)),
    "densenet121": classifier(tv.densenet121),
    "efficientnet_b0": classifier(tv.efficientnet_b0),
    "efficientnet_v2_s": classifier(tv.efficientnet_v2_s),
    "googlenet": classifier(tv.googlenet, init_weights=False, aux_logits=False),
    "inception_v3": classifier(tv.inception_v3, 96, init_weights=False, aux_logits=False),
    "maxvit": lambda: (maxvit.MaxVit(input_size=(64, 64), stem_channels=16, partition_size=2, block_channels=[16, 16],
                                     block_layers=[1, 1], head_dim=8, stochastic_depth_prob=0.1, num_classes=10), image()),
    "mnasnet0_5": classifier(tv.mnasnet0_5),
    "mobilenet_v2": classifier(tv.mobilenet_v2),
    "mobilenet_v3_large": classifier(tv.mobilenet_v3_large),
    "mobilenet_v3_small": classifier(tv.mobilenet_v3_small),
    "regnet_x_400mf": classifier(tv.regnet_x_400mf),
    "regnet_y_400mf": classifier(tv.regnet_y_400mf),
    "resnet18": classifier(tv.resnet18),
    "resnet50": classifier(tv.resnet50),
    "resnext50_32x4d": classifier(tv.resnext50_32x4d),
    "shufflenet_v2_x0_5": classifier(tv.shufflenet_v2_x0_5),
    "squeezenet1_0": classifier(tv.squeezenet1_0),
    "squeezenet1_1": classifier(tv.squeezenet1_1),
    "swin": lambda: (swin_transformer.SwinTransformer([4, 4], 16, [1, 2], [2, 2], [4, 4], num_classes=10), image(32)),
    "swin_v2": lambda: (swin_transformer.SwinTransformer(
        [4, 4], 16, [1, 2], [2, 2], [4, 4], num_classes=10, block=swin_transformer.SwinTransformerBlockV2,
        downsample_layer=swin_transformer.PatchMergingV2), image(32)),
    "vgg11": lambda: (without_classifier(tv.vgg11(**PLAIN)), image()),
    "vgg11_bn": lambda: (without_classifier(tv.vgg11_bn(**PLAIN)), image()),
    "vit": lambda: (vision_transformer.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10), image(32)),
    "wide_resnet": lambda: (tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], width_per_group=128, num_classes=10), image()),
    # Models that are prepared for quantization, and run as floats.
    "quantizable_googlenet": classifier(tv.quantization.googlenet, init_weights=False, aux_logits=False),
    "quantizable_inception_v3": classifier(tv.quantization.inception_v3, 96, init_weights=False, aux_logits=False),
    "quantizable_mobilenet_v2": classifier(tv.quantization.mobilenet_v2),
    "quantizable_mobilenet_v3_large": classifier(tv.quantization.mobilenet_v3_large),
    "quantizable_resnet18": classifier(tv.quantization.resnet18),
    "quantizable_shufflenet_v2_x0_5": classifier(tv.quantization.shufflenet_v2_x0_5),
    "fcn_resnet50": lambda: (tv.segmentation.fcn_resnet50(**HEADLESS), image()),
    "deeplabv3_mobilenet": lambda: (tv.segmentation.deeplabv3_mobilenet_v3_large(**HEADLESS), image()),
    "deeplabv3_resnet50": lambda: (tv.segmentation.deeplabv3_resnet50(**HEADLESS), image()),
    "lraspp": lambda: (tv.segmentation.lraspp_mobilenet_v3_large(**HEADLESS), image()),
    "r3d_18": lambda: (tv.video.r3d_18(weights=None, num_classes=5), video()),
    "mc3_18": lambda: (tv.video.mc3_18(weights=None, num_classes=5), video()),
    "r2plus1d_18": lambda: (tv.video.r2plus1d_18(weights=None, num_classes=5), video()),
    "s3d": lambda: (small_s3d(), video(16, 64)),
    "mvit_v1": lambda: (small_mvit(1), video()),
    "mvit_v2": lambda: (small_mvit(2), video()),
    "swin3d": lambda: (swin3d.SwinTransformer3d([2, 4, 4], 16, [1, 2], [2, 2], [2, 4, 4], num_classes=5), video()),
    "raft_small": lambda: (tv.optical_flow.raft_small(weights=None), image(128) + image(128)),
    "raft_large": lambda: (tv.optical_flow.raft_large(weights=None), image(128) + image(128)),
    # Detectors: torch.export refuses how they select boxes, so what comes before, and parts of them.
    "ssdlite": lambda: (Scores(detection.ssdlite320_mobilenet_v3_large(**HEADLESS)), image(320)),
    "fasterrcnn": lambda: (Scores(detection.fasterrcnn_mobilenet_v3_large_320_fpn(**HEADLESS)), image(96)),
    "fcos": lambda: (Scores(detection.fcos_resnet50_fpn(**HEADLESS)), image(96)),
    "retinanet": lambda: (Scores(detection.retinanet_resnet50_fpn(**HEADLESS)), image(96)),
    "fpn_backbone": lambda: (detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None), image()),
    "mobilenet_backbone": lambda: (detection.backbone_utils.mobilenet_backbone(
        backbone_name="mobilenet_v3_small", weights=None, fpn=False), image()),
    "fcos_head": head(lambda: detection.fcos.FCOSHead(32, 1, 4, 2), 32),
    "retinanet_head": head(lambda: detection.retinanet.RetinaNetHead(16, 2, 4)),
    "rpn_head": head(lambda: detection.rpn.RPNHead(16, 3)),
    "ssd_head": head(lambda: detection.ssd.SSDHead([16, 16, 16], [4, 6, 4], 4)),
    "box_head": lambda: (nn.Sequential(detection.faster_rcnn.TwoMLPHead(16 * 49, 32),
                                       detection.faster_rcnn.FastRCNNPredictor(32, 4)), (torch.randn(5, 16, 7, 7),)),
    "mask_head": lambda: (nn.Sequential(detection.mask_rcnn.MaskRCNNHeads(16, (8, 8), 1),
                                        detection.mask_rcnn.MaskRCNNPredictor(8, 8, 4)), (torch.randn(5, 16, 14, 14),)),
    "keypoint_head": lambda: (nn.Sequential(detection.keypoint_rcnn.KeypointRCNNHeads(16, (8, 8)),
                                            detection.keypoint_rcnn.KeypointRCNNPredictor(8, 5)),
                              (torch.randn(3, 16, 14, 14),)),
    "feature_pyramid": lambda: (Maps(ops.FeaturePyramidNetwork([8, 16], 8)), (torch.randn(1, 8, 8, 8),
                                                                               torch.randn(1, 16, 4, 4))),
    "squeeze_excitation": lambda: (ops.SqueezeExcitation(16, 4), (torch.randn(2, 16, 8, 8),)),
    "deform_conv": lambda: (ops.DeformConv2d(3, 4, 3, padding=1), image(8) + (torch.randn(1, 18, 8, 8),)),
    "roi_align": lambda: (ops.RoIAlign((3, 3), 0.5, 2), (torch.randn(1, 4, 16, 16), torch.tensor([[0.0, 2, 3, 20, 25]]))),
}


class Scores(nn.Module):
    """A detector up to the scores and boxes of all anchors."""

    def __init__(self, detector):
        super().__init__()
        self.backbone = detector.backbone
        self.head = detector.rpn.head if hasattr(detector, "rpn") else detector.head

    def forward(self, pixels):
        return self.head(list(self.backbone(pixels).values()))


class Maps(nn.Module):
    """Takes feature maps one by one, where the module takes a dictionary of them."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *maps):
        return tuple(self.module({str(i): map for i, map in enumerate(maps)}).values())


# --- transformers ---


class Named(nn.Module):
    """Takes inputs by position where the model takes them by name, and returns the tensors of its output."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs):
        output = self.model(**dict(zip(self.names, inputs)), return_dict=True)
        return tuple(value for value in output.values() if isinstance(value, torch.Tensor))


def build(name, config, inputs):
    cls = getattr(hf, name)
    settings = cls.config_class(**config)
    if hasattr(settings, "use_cache"):
        settings.use_cache = False
    return Named(cls(settings), list(inputs)), tuple(inputs.values())


def ids(length=8):
    return torch.randint(3, 50, (1, length))


def text(name, config, length=8):
    return lambda: build(name, config, {"input_ids": ids(length)})


def pair(name, config):
    return lambda: build(name, config, {"input_ids": ids(), "decoder_input_ids": ids(5)})


def picture(name, config, size=32):
    return lambda: build(name, config, {"pixel_values": image(size)[0]})


def sound(name, config):
    return lambda: build(name, config, {"input_values": torch.randn(1, 800)})


SMALL = {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
         "max_position_embeddings": 40}
GROUPED = SMALL | {"num_key_value_heads": 1}
HEADS = GROUPED | {"head_dim": 8}
DECODER = GROUPED | {"pad_token_id": 0}
PAIR = {"vocab_size": 64, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 32,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
T5 = {"vocab_size": 64, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
PATCHES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "image_size": 32,
           "patch_size": 8}
STAGES = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}
SWIN = {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}
SPEECH = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "conv_dim": [8] * 3,
          "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2], "num_conv_pos_embeddings": 8,
          "num_conv_pos_embedding_groups": 2}
WHISPER = PAIR | {"num_mel_bins": 8, "max_source_positions": 16, "max_target_positions": 16}

TRANSFORMERS = {
    # Encoders.
    "albert": text("AlbertModel", SMALL | {"embedding_size": 8}),
    "bert": text("BertModel", SMALL),
    "bigbird": text("BigBirdModel", SMALL | {"attention_type": "original_full"}),
    "convbert": text("ConvBertModel", SMALL | {"embedding_size": 16}),
    "deberta": text("DebertaModel", SMALL | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "deberta_v2": text("DebertaV2Model", SMALL | {"relative_attention": True, "position_buckets": 8,
                                                  "pos_att_type": ["p2c", "c2p"]}),
    "distilbert": text("DistilBertModel", {"vocab_size": 64, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32,
                                           "max_position_embeddings": 32}),
    "electra": text("ElectraModel", SMALL | {"embedding_size": 8}),
    "esm": text("EsmModel", SMALL | {"pad_token_id": 1, "mask_token_id": 2}),
    "fnet": text("FNetModel", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 32,
                               "max_position_embeddings": 32}),
    "funnel": text("FunnelModel", {"vocab_size": 64, "block_sizes": [1, 1], "d_model": 16, "n_head": 2, "d_head": 8,
                                   "d_inner": 32, "num_decoder_layers": 1}),
    "longformer": text("LongformerModel", SMALL | {"attention_window": 4}),
    "mobilebert": text("MobileBertModel", SMALL | {"embedding_size": 16, "intra_bottleneck_size": 16}),
    "modernbert": text("ModernBertModel", SMALL | {"pad_token_id": 0}),
    "mpnet": text("MPNetModel", SMALL),
    "nystromformer": text("NystromformerModel", SMALL | {"num_landmarks": 4, "segment_means_seq_len": 8}),
    "roberta": text("RobertaModel", SMALL),
    "roformer": text("RoFormerModel", SMALL | {"embedding_size": 16}),
    "squeezebert": text("SqueezeBertModel", SMALL | {"embedding_size": 16}),
    "xlnet": text("XLNetModel", {"vocab_size": 64, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}),
    # Decoders.
    "bloom": text("BloomForCausalLM", {"vocab_size": 64, "hidden_size": 16, "n_layer": 2, "n_head": 2}),
    "codegen": text("CodeGenForCausalLM", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 32,
                                           "rotary_dim": 4}),
    "cohere": text("CohereForCausalLM", DECODER),
    "ctrl": text("CTRLModel", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "dff": 32, "n_positions": 32}),
    "deepseek_v3": text("DeepseekV3ForCausalLM", GROUPED | {
        "num_key_value_heads": 2, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
        "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1,
        "moe_intermediate_size": 16, "first_k_dense_replace": 1}),
    "falcon": text("FalconForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2,
                                         "num_attention_heads": 2}),
    "gemma": text("GemmaForCausalLM", HEADS),
    "gemma2": text("Gemma2ForCausalLM", HEADS),
    "glm": text("GlmForCausalLM", HEADS | {"pad_token_id": 0}),
    "gpt2": text("GPT2LMHeadModel", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}),
    "gpt_bigcode": text("GPTBigCodeForCausalLM", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2,
                                                  "n_positions": 32}),
    "gpt_neo": text("GPTNeoForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_layers": 2, "num_heads": 2,
                                          "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 32,
                                          "window_size": 4}),
    "gpt_neox": text("GPTNeoXForCausalLM", SMALL),
    "gpt_oss": text("GptOssForCausalLM", HEADS | {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 4,
                                                  "pad_token_id": 0}),
    "llama": text("LlamaForCausalLM", GROUPED),
    "mamba": text("MambaForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}),
    "mamba2": text("Mamba2ForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4,
                                         "num_heads": 4, "head_dim": 8, "n_groups": 1, "chunk_size": 4}),
    "mistral": text("MistralForCausalLM", GROUPED),
    "mixtral": text("MixtralForCausalLM", GROUPED | {"num_local_experts": 4}),
    "mpt": text("MptForCausalLM", {"vocab_size": 64, "d_model": 16, "n_layers": 2, "n_heads": 2, "max_seq_len": 32}),
    "olmo2": text("Olmo2ForCausalLM", DECODER),
    "olmoe": text("OlmoeForCausalLM", DECODER | {"num_experts": 4, "num_experts_per_tok": 2}),
    "opt": text("OPTForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
                                   "ffn_dim": 32, "max_position_embeddings": 32, "word_embed_proj_dim": 16}),
    "phi": text("PhiForCausalLM", SMALL),
    "phi3": text("Phi3ForCausalLM", DECODER),
    "qwen2": text("Qwen2ForCausalLM", GROUPED),
    "qwen2_moe": text("Qwen2MoeForCausalLM", GROUPED | {"num_experts": 4, "num_experts_per_tok": 2,
                                                        "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}),
    "qwen3": text("Qwen3ForCausalLM", HEADS),
    "qwen3_next": text("Qwen3NextForCausalLM", HEADS | {
        "linear_num_value_heads": 2, "linear_num_key_heads": 1, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}),
    "rwkv": text("RwkvForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16,
                                     "intermediate_size": 32, "context_length": 32}),
    "stablelm": text("StableLmForCausalLM", GROUPED),
    # Encoders with decoders.
    "bart": pair("BartModel", PAIR),
    "m2m_100": pair("M2M100Model", PAIR),
    "mbart": pair("MBartModel", PAIR),
    "pegasus": pair("PegasusModel", PAIR),
    "t5": pair("T5Model", T5),
    # Of pictures.
    "beit": picture("BeitModel", PATCHES | {"use_relative_position_bias": True}),
    "convnextv2": picture("ConvNextV2Model", STAGES, 64),
    "deit": picture("DeiTModel", PATCHES),
    "detr": picture("TableTransformerModel", {
        "use_timm_backbone": False, "backbone": None, "backbone_config": hf.ResNetConfig(
            embedding_size=8, hidden_sizes=[8, 8, 8, 16], depths=[1, 1, 1, 1], out_features=["stage4"]),
        "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_queries": 4}, 64),
    "dinov2": picture("Dinov2Model", {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32,
                                      "patch_size": 8, "mlp_ratio": 2}),
    "focalnet": picture("FocalNetModel", {"image_size": 32, "patch_size": 4, "embed_dim": 8, "hidden_sizes": [8, 16],
                                          "depths": [1, 1], "focal_levels": [2, 2], "focal_windows": [3, 3]}),
    "levit": picture("LevitModel", {"image_size": 64, "hidden_sizes": [16, 16, 16], "num_attention_heads": [2, 2, 2],
                                    "depths": [1, 1, 1], "key_dim": [8, 8, 8], "down_ops": [["Subsample", 8, 2, 2, 2, 2],
                                                                                          ["Subsample", 8, 2, 2, 2, 2]]}, 64),
    "mobilevit": picture("MobileViTModel", {"hidden_sizes": [16, 24, 32], "image_size": 64,
                                            "neck_hidden_sizes": [8, 8, 16, 24, 32, 32, 64]}, 64),
    "poolformer": picture("PoolFormerModel", STAGES, 64),
    "regnet": picture("RegNetModel", STAGES | {"embedding_size": 8, "groups_width": 4}, 64),
    "segformer": picture("SegformerModel", STAGES | {"num_attention_heads": [1, 1, 2, 2], "decoder_hidden_size": 16}, 64),
    "siglip_vision": picture("SiglipVisionModel", PATCHES),
    "swin": picture("SwinModel", SWIN),
    "swinv2": picture("Swinv2Model", SWIN),
    "vit": picture("ViTModel", PATCHES),
    "yolos": picture("YolosModel", PATCHES | {"image_size": [32, 32], "num_detection_tokens": 4}),
    "clip": lambda: build("CLIPModel", {
        "text_config": SMALL | {"projection_dim": 16}, "vision_config": PATCHES | {"projection_dim": 16},
        "projection_dim": 16}, {"input_ids": ids(), "pixel_values": image(32)[0]}),
    # Of sound and time series.
    "audio_spectrogram": lambda: build("ASTModel", {
        "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "patch_size": 4,
        "max_length": 16, "num_mel_bins": 16, "frequency_stride": 4, "time_stride": 4},
        {"input_values": torch.randn(1, 16, 16)}),
    "hubert": sound("HubertModel", SPEECH),
    "patchtst": lambda: build("PatchTSTModel", {
        "num_input_channels": 2, "context_length": 16, "patch_length": 4, "patch_stride": 4, "d_model": 16,
        "num_attention_heads": 2, "ffn_dim": 32, "num_hidden_layers": 1}, {"past_values": torch.randn(1, 16, 2)}),
    "wav2vec2": sound("Wav2Vec2Model", SPEECH),
    "wavlm": sound("WavLMModel", SPEECH),
    "whisper": lambda: build("WhisperModel", WHISPER, {"input_features": torch.randn(1, 8, 32), "decoder_input_ids": ids(5)}),
}

MODELS = {"torchvision_" + name: model for name, model in TORCHVISION.items()} | {
    "transformers_" + name: model for name, model in TRANSFORMERS.items()}
