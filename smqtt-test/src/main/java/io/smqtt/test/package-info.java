// SPDX-License-Identifier: Apache-2.0
/**
 * What tests of MQTT software need: a broker inside the test's JVM whose clock the test moves, and a client that sends any
 * bytes and shows the packets that come back.
 */
@NullMarked
package io.smqtt.test;

import org.jspecify.annotations.NullMarked;
