#!/usr/bin/env python3
"""Trains the models of this folder: small ones of scikit-learn, LightGBM and XGBoost, with a .npy of rows beside each.

    make.py [FOLDER] [NAME...]

tests/e2e/run_classical compares their C with ONNX Runtime. Needs scikit-learn, skl2onnx, lightgbm, xgboost and
onnxmltools; the files are committed, so that the tests need none of these."""
import os
import pathlib
import sys
import warnings

import numpy as np
import onnx
from sklearn import (cluster, decomposition, discriminant_analysis, ensemble, gaussian_process, impute, linear_model, naive_bayes,
                     neighbors, neural_network, preprocessing, svm, tree)
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.pipeline import make_pipeline

warnings.filterwarnings("ignore")
NAMES = np.array(["setosa", "versicolor", "virginica"])


def data():
    """By name: rows and what is to be learnt."""
    sets = {name: load(return_X_y=True) for name, load in
            (("iris", load_iris), ("cancer", load_breast_cancer), ("diabetes", load_diabetes))}
    sets = {name: (x.astype(np.float32), y) for name, (x, y) in sets.items()}
    x, y = sets["iris"]
    holes = x.copy()
    holes[::7, 1] = np.nan
    holes[::5, 3] = np.nan
    integers = np.random.RandomState(0).randint(0, 4, (200, 3))
    sets["words"] = (x, NAMES[y])
    sets["holes"] = (holes, y)
    sets["two"] = (x, (y == 1).astype(np.int64))
    sets["integers"] = (integers, integers.sum(1) % 2)
    sets["categories"] = (np.concatenate([integers, np.random.RandomState(1).randn(200, 2)], 1).astype(np.float32),
                          (integers[:, 0] % 2) ^ (integers[:, 1] > 1))
    sets["few"] = (sets["diabetes"][0][:12], sets["diabetes"][1][:12])
    sets["pairs"] = (sets["diabetes"][0], np.stack([sets["diabetes"][1], -sets["diabetes"][1]], 1))
    return sets


def scikit():
    """Name: model, data."""
    scale, logistic = preprocessing.StandardScaler, lambda: linear_model.LogisticRegression(max_iter=2000)
    return {
        "logistic": (make_pipeline(scale(), logistic()), "iris"),
        "logistic_words": (logistic(), "words"),
        "logistic_two": (logistic(), "two"),
        "ridge": (linear_model.Ridge(), "diabetes"),
        "svc": (svm.SVC(), "iris"),
        "svc_probability": (svm.SVC(probability=True, random_state=0), "iris"),
        "svc_probability_two": (svm.SVC(probability=True, random_state=0), "two"),
        "svr": (make_pipeline(scale(), svm.SVR(kernel="poly")), "few"),
        "linear_svc": (svm.LinearSVC(), "iris"),
        "forest": (ensemble.RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0), "iris"),
        "forest_two": (ensemble.RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0), "two"),
        "forest_regressor": (ensemble.RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0), "diabetes"),
        "boosting": (ensemble.GradientBoostingClassifier(n_estimators=3, random_state=0), "words"),
        "boosting_two": (ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0), "two"),
        "boosting_regressor": (ensemble.GradientBoostingRegressor(n_estimators=4, random_state=0), "diabetes"),
        "hist_two": (ensemble.HistGradientBoostingClassifier(max_iter=5, max_depth=3), "two"),
        "hist_regressor": (ensemble.HistGradientBoostingRegressor(max_iter=5, max_depth=3), "diabetes"),
        "tree": (tree.DecisionTreeClassifier(random_state=0), "iris"),
        "tree_pairs": (tree.DecisionTreeRegressor(max_depth=4, random_state=0), "pairs"),
        "isolation": (ensemble.IsolationForest(n_estimators=3, max_samples=16, random_state=0), "iris"),
        "vote": (ensemble.VotingClassifier([("a", logistic()), ("b", tree.DecisionTreeClassifier(max_depth=3))],
                                           voting="soft", flatten_transform=False), "iris"),
        "neighbours": (neighbors.KNeighborsRegressor(3), "few"),
        "bayes": (naive_bayes.GaussianNB(), "iris"),
        "perceptron": (neural_network.MLPClassifier((8,), max_iter=50, random_state=0), "words"),
        "components": (make_pipeline(scale(), decomposition.PCA(2), logistic()), "iris"),
        "one_hot": (make_pipeline(preprocessing.OneHotEncoder(handle_unknown="ignore"), logistic()), "integers"),
        "imputer": (make_pipeline(impute.SimpleImputer(), preprocessing.Normalizer(), logistic()), "holes"),
        "columns": (make_column_transformer((scale(), [0, 1]), (preprocessing.MinMaxScaler(), [2, 3])), "iris"),
        "means": (cluster.KMeans(3, n_init=1, random_state=0), "iris"),
        "gaussian": (gaussian_process.GaussianProcessRegressor(), "few"),
        "discriminant": (discriminant_analysis.LinearDiscriminantAnalysis(), "iris"),
    }


def boosters():
    """Name: model, data, converter, arguments of fit."""
    import lightgbm
    import xgboost
    from onnxmltools import convert_lightgbm, convert_xgboost

    light = lambda **options: lightgbm.LGBMClassifier(verbose=-1, **options)  # noqa: E731
    return {
        "lightgbm": (light(n_estimators=4, max_depth=3), "iris", convert_lightgbm, {}),
        "lightgbm_two": (light(n_estimators=5, max_depth=3), "two", convert_lightgbm, {}),
        "lightgbm_holes": (light(n_estimators=4, max_depth=3), "holes", convert_lightgbm, {}),
        "lightgbm_regressor": (lightgbm.LGBMRegressor(n_estimators=5, max_depth=3, verbose=-1), "diabetes",
                               convert_lightgbm, {}),
        "lightgbm_categories": (light(n_estimators=4, min_data_per_group=5, cat_smooth=1.), "categories",
                                convert_lightgbm, {"categorical_feature": [0, 1, 2]}),
        "xgboost": (xgboost.XGBClassifier(n_estimators=4, max_depth=3), "iris", convert_xgboost, {}),
        "xgboost_two": (xgboost.XGBClassifier(n_estimators=5, max_depth=3), "two", convert_xgboost, {}),
        "xgboost_holes": (xgboost.XGBClassifier(n_estimators=4, max_depth=3), "holes", convert_xgboost, {}),
        "xgboost_regressor": (xgboost.XGBRegressor(n_estimators=5, max_depth=3), "diabetes", convert_xgboost, {}),
    }


def plain(make_attribute):
    """skl2onnx 1.20 hands numpy's numbers, and booleans for integers, to onnx, which takes Python's."""
    def make(key, value, *more, **options):
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, list):
            value = [v.item() if isinstance(v, np.generic) else v for v in value]
            value = [int(v) if isinstance(v, bool) else v for v in value]
        return make_attribute(key, value, *more, **options)
    return make


def save(folder, name, model, x):
    onnx.save(model, folder / f"{name}.onnx")
    np.save(folder / f"{name}.npy", x[::max(1, len(x) // 12)][:12])
    print(name, os.path.getsize(folder / f"{name}.onnx"))


def main():
    from onnxmltools.convert.common.data_types import FloatTensorType as Floats
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
    from onnx import helper

    helper.make_attribute = plain(helper.make_attribute)
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    only, sets = set(sys.argv[2:]), data()
    for name, (model, of) in scikit().items():
        x, y = sets[of]
        if only and name not in only:
            continue
        model.fit(x, y)
        kind = Int64TensorType if x.dtype == np.int64 else FloatTensorType
        save(folder, name, convert_sklearn(model, initial_types=[("X", kind([None, x.shape[1]]))],
                                           target_opset={"": 18, "ai.onnx.ml": 3}), x)
    for name, (model, of, convert, options) in boosters().items():
        x, y = sets[of]
        if only and name not in only:
            continue
        model.fit(x, y, **options)
        save(folder, name, convert(model, initial_types=[("X", Floats([None, x.shape[1]]))], target_opset=15), x)


main()
