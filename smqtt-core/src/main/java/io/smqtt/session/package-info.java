// SPDX-License-Identifier: Apache-2.0
/**
 * Sessions: all state that outlives a network connection (MQTT 5.0, section 4.1). A session belongs to one event loop at
 * a time; its collections are plain and have no other users. Other threads reach it by deliveries and by tasks on its loop.
 */
@NullMarked
package io.smqtt.session;

import org.jspecify.annotations.NullMarked;
