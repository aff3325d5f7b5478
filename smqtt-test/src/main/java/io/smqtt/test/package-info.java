// SPDX-License-Identifier: Apache-2.0
/**
 * A kit for tests of MQTT software: a broker inside the test's JVM ({@link io.smqtt.test.MqttBroker},
 * {@link io.smqtt.test.TestBroker}) whose clock the test moves and that is asked what it received, and a client that sends any
 * bytes and shows the packets that come back. Faults and recordings are in {@link io.smqtt.test.wire}.
 */
@NullMarked
package io.smqtt.test;

import org.jspecify.annotations.NullMarked;
