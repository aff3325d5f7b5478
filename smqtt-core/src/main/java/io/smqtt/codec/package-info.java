// SPDX-License-Identifier: Apache-2.0
/**
 * MQTT packets to and from bytes: a strict, framed decoder that is total over arbitrary input, and the encoder of what a
 * server sends. Both are plain objects that work on a buffer; neither knows channels or sessions.
 */
@NullMarked
package io.smqtt.codec;

import org.jspecify.annotations.NullMarked;
