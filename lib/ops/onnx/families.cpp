#include "ops/onnx/families.h"

namespace whittle {

std::vector<std::span<const OpDef>> onnx_families() {
    return {
        onnx_activation_ops(),  //
        onnx_attention_ops(),   //
        onnx_binary_ops(),      //
        onnx_cast_ops(),        //
        onnx_control_ops(),     //
        onnx_conv_ops(),        //
        onnx_count_ops(),       //
        onnx_create_ops(),      //
        onnx_detection_ops(),   //
        onnx_index_ops(),       //
        onnx_loss_ops(),        //
        onnx_matmul_ops(),      //
        onnx_norm_ops(),        //
        onnx_slice_ops(),       //
        onnx_pool_ops(),        //
        onnx_quantize_ops(),    //
        onnx_random_ops(),      //
        onnx_reduce_ops(),      //
        onnx_resize_ops(),      //
        onnx_rnn_ops(),         //
        onnx_shape_ops(),       //
        onnx_signal_ops(),      //
        onnx_softmax_ops(),     //
        onnx_unary_ops(),       //
    };
}

}  // namespace whittle
