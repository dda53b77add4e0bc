#include "bench/accuracy/networks.h"

#include <stddef.h>
#include <string.h>

#define IMAGENET_224                                                                               \
    "{\"resize\": {\"mode\": \"shorter\", \"size\": 256}, "                                        \
    "\"crop\": {\"width\": 224, \"height\": 224}, " UNIT "}"
#define IMAGENET_128                                                                               \
    "{\"resize\": {\"mode\": \"shorter\", \"size\": 146}, "                                        \
    "\"crop\": {\"width\": 128, \"height\": 128}, \"mean\": 127.5, \"std\": 127.5}"
#define UNIT                                                                                       \
    "\"scale\": 0.00392156862745098, \"mean\": [0.485, 0.456, 0.406], "                            \
    "\"std\": [0.229, 0.224, 0.225]"

const struct network networks[] = {
    { "mobilenetv1_025_128", DATA_IMAGES, "imagenet_val500", 0, IMAGENET_128, CALIBRATE_FOLDER,
      "imagenet_calib200", 128, 54.80, 79.00 },
    { "mobilenetv2", DATA_IMAGES, "imagenet_val500", 0, IMAGENET_224, CALIBRATE_FOLDER,
      "imagenet_calib200", 128, 79.60, 94.20 },
    { "squeezenet11", DATA_IMAGES, "imagenet_val500", 0, IMAGENET_224, CALIBRATE_FOLDER,
      "imagenet_calib200", 128, 68.60, 90.00 },
    { "resnet20_cifar10", DATA_IMAGES, "cifar10_jpg2000", 0, "{" UNIT "}", CALIBRATE_NTH, NULL, 16,
      81.35, 0 },
    { "ic_resnet8", DATA_IMAGES, "cifar10_jpg2000", 0, "{}", CALIBRATE_NTH, NULL, 16, 76.40, 0 },
    { "kws_dscnn", DATA_KEYWORD, "kws01", 0, NULL, CALIBRATE_NTH, NULL, 8, 91.30, 99.20 },
    { "mnist8", DATA_DIGITS, "mnist_t10k", 2000, NULL, CALIBRATE_AFTER, NULL, 128, 98.40, 0 },
    { "vww_mobilenetv1", DATA_PERSON, "coco_val128", 0,
      "{\"resize\": {\"mode\": \"exact\", \"width\": 96, \"height\": 96}, "
      "\"scale\": 0.00392156862745098}",
      CALIBRATE_FOLDER, "coco_calib32", 32, 86.72, 0 },
    { "ad_autoencoder", DATA_WINDOWS, "ad01_sample", 0, NULL, CALIBRATE_NTH, NULL, 8, 9.49128, 0 },
};

const int n_networks = sizeof networks / sizeof *networks;

const struct network *network_find(const char *name)
{
    for (int i = 0; i < n_networks; i++)
        if (strcmp(networks[i].name, name) == 0)
            return &networks[i];
    return NULL;
}
