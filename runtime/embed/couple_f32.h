/* couple_f32.h - probabilities of k classes from those of pairs, by the second method of Wu, Lin and Weng 2004
 * ("Probability estimates for multi-class classification by pairwise coupling"), as SVM libraries do it. */
#ifndef RUNTIME_EMBED_COUPLE_F32_H
#define RUNTIME_EMBED_COUPLE_F32_H

/* r[pair of (i, j)], i < j: how likely i is, of the two. q: k * k numbers to work with, qp: k. Rounds end when
 * the equations hold to 0.005 / k, or after 100 of them. */
static void couple_f32(const float *r, int k, float *p, float *q, float *qp)
{
    const float enough = 0.005f / (float)k;
    int pair = 0;

    for (int i = 0; i < k; i++) {
        p[i] = 1.0f / (float)k;
        for (int j = 0; j < k; j++)
            q[i * k + j] = 0;
    }
    for (int i = 0; i < k; i++)
        for (int j = i + 1; j < k; j++, pair++) {
            const float first = r[pair], second = 1 - first;

            q[i * k + i] += second * second;
            q[j * k + j] += first * first;
            q[i * k + j] = q[j * k + i] = -(second * first);
        }
    for (int round = 0; round < 100; round++) {
        float pqp = 0.0f, worst = 0.0f;

        for (int i = 0; i < k; i++) {
            qp[i] = 0;
            for (int j = 0; j < k; j++)
                qp[i] += q[i * k + j] * p[j];
            pqp += p[i] * qp[i];
        }
        for (int i = 0; i < k; i++) {
            const float error = qp[i] > pqp ? qp[i] - pqp : pqp - qp[i];

            worst = error > worst ? error : worst;
        }
        if (worst < enough)
            break;
        for (int i = 0; i < k; i++) {
            const float step = (pqp - qp[i]) / q[i * k + i], whole = 1 + step;

            p[i] += step;
            pqp = (pqp + step * (step * q[i * k + i] + 2 * qp[i])) / whole / whole;
            for (int j = 0; j < k; j++) {
                qp[j] = (qp[j] + step * q[i * k + j]) / whole;
                p[j] /= whole;
            }
        }
    }
}

#endif
