/* networks.h - the networks whose accuracy is measured, and their data: rows of networks.c. */
#ifndef BENCH_ACCURACY_NETWORKS_H
#define BENCH_ACCURACY_NETWORKS_H

enum data_kind {
    DATA_IMAGES,  /* a folder of images; labels.txt has a line "file label" for each */
    DATA_PERSON,  /* images/ and YOLO labels/: is there a person? */
    DATA_KEYWORD, /* a folder of int8 features with a labels.txt */
    DATA_DIGITS,  /* MNIST: two IDX files, compressed */
    DATA_WINDOWS  /* a file of frames; the network is to give back what it gets */
};

/* Which samples the scales are found on. Never those that are tested. */
enum calibration_kind {
    CALIBRATE_FOLDER, /* another folder, of images */
    CALIBRATE_NTH,    /* every n-th sample of the data; the others are tested */
    CALIBRATE_AFTER   /* those behind the tested ones */
};

struct network {
    const char *name; /* of the folder in models/ */
    enum data_kind kind;
    const char *data;       /* folder in data/ */
    int n;                  /* of the samples in it, the first so many; 0 = all */
    const char *preprocess; /* JSON, docs/guide/calibration.md; images only */
    enum calibration_kind calibration;
    const char *calibration_data; /* FOLDER */
    int calibration_n;            /* FOLDER, AFTER: so many; NTH: every so many */
    double top1, top5; /* f32, percent, of shared/data/INDEX.md; top5 0: not given. WINDOWS:
                          top1 is the mean squared error */
};

extern const struct network networks[];
extern const int n_networks;

const struct network *network_find(const char *name); /* NULL if there is none */

#endif
