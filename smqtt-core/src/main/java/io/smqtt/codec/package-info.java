// SPDX-License-Identifier: Apache-2.0
/**
 * Decoder and encoders of MQTT packets. The decoder is strict and handles arbitrary input; the encoders write the packets of a
 * server. All are plain objects that work on buffers, without knowledge of channels and sessions.
 */
@NullMarked
package io.smqtt.codec;

import org.jspecify.annotations.NullMarked;
