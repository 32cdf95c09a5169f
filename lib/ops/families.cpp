// The list of all op families.
#include "ops/aten/families.h"
#include "ops/core/registry.h"
#include "ops/onnx/families.h"

namespace whittle {

std::vector<OpFamily> op_families() {
    std::vector<OpFamily> families;
    for (const std::span<const OpDef> ops : {
             unary_ops(),       //
             activation_ops(),  //
             arithmetic_ops(),  //
             division_ops(),    //
             power_ops(),       //
             special_ops(),
             activation_form_ops(),
             view_form_ops(),
             linalg_form_ops(),
             arithmetic_form_ops(),
             complex_ops(),
             fft_ops(),
             fft_form_ops(),
             compare_ops(),         //
             select_ops(),          //
             ternary_ops(),         //
             cast_ops(),            //
             reduction_ops(),       //
             extremum_ops(),        //
             statistic_ops(),       //
             softmax_ops(),         //
             norm_ops(),            //
             batch_norm_ops(),      //
             view_ops(),            //
             split_ops(),           //
             reshape_ops(),         //
             join_ops(),            //
             pad_ops(),             //
             rearrange_ops(),       //
             gather_ops(),          //
             index_ops(),           //
             scatter_ops(),         //
             index_slice_ops(),     //
             embedding_bag_ops(),   //
             ctc_ops(),             //
             window_ops(),          //
             histogram_ops(),       //
             fake_quantize_ops(),   //
             slice_scatter_ops(),   //
             creation_ops(),        //
             range_ops(),           //
             triangle_ops(),        //
             scan_ops(),            //
             sort_ops(),            //
             search_ops(),          //
             matmul_ops(),          //
             linear_ops(),          //
             linalg_ops(),          //
             factorization_ops(),   //
             attention_ops(),       //
             conv_ops(),            //
             conv_form_ops(),       //
             pool_ops(),            //
             avg_pool_ops(),        //
             patch_ops(),           //
             upsample_ops(),        //
             grid_ops(),            //
             distance_ops(),        //
             rnn_ops(),             //
             packed_ops(),          //
             einsum_ops(),          //
             assertion_ops(),       //
             data_size_ops(),       //
             random_ops(),          //
             dropout_ops(),         //
             loss_ops(),            //
             loss_form_ops(),       //
             margin_loss_ops(),     //
             similarity_ops(),      //
             backward_ops(),        //
             unary_backward_ops(),  //
             layer_backward_ops(),  //
             pool_backward_ops(),
             grid_backward_ops(),
             upsample_backward_ops(),
         })
        families.push_back({"aten", ops});
    for (const std::span<const OpDef> ops : onnx_families()) families.push_back({"onnx", ops});
    families.push_back({"higher_order", higher_order_ops()});
    families.push_back({"quantized_decomposed", quantized_decomposed_ops()});
    families.push_back({"ai.onnx.preview.training", onnx_training_ops()});
    return families;
}

}  // namespace whittle
