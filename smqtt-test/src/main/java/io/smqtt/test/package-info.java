// SPDX-License-Identifier: Apache-2.0
/** What tests of MQTT software need. */
@NullMarked
package io.smqtt.test;

import org.jspecify.annotations.NullMarked;
