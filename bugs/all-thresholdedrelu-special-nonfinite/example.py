import tf_keras

layer = tf_keras.layers.ThresholdedReLU(theta=1.0)
print("Actual:  ", layer([-float("inf"), 0.5, 2.0]).numpy().tolist())
print("Expected:", [0.0, 0.0, 2.0])
