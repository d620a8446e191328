import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

cells = [keras.layers.SimpleRNNCell(1), keras.layers.SimpleRNNCell(1)]
rnn = keras.layers.RNN(cells, stateful=True)
rnn(keras.ops.zeros((1, 1, 1)))
print("Expected: states of zeros", flush=True)
rnn.reset_states()
