// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** An action of a client on a topic. */
public enum AccessAction {
    /** Publish to a topic name, as a message or as a will. */
    PUBLISH,
    /** Subscribe to a topic filter; a wildcard filter must be covered as a whole. */
    SUBSCRIBE,
    /** Receive a message of a topic name. */
    RECEIVE
}
