// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.ClientIdentity;

/**
 * A session as the broker sees it at the moment.
 *
 * @param identity who the client is, or was when it was last connected
 * @param connected whether it is connected
 * @param subscriptions how many subscriptions it has
 * @param inFlight messages sent and not yet acknowledged
 * @param queued messages that wait for it
 */
public record ClientInfo(ClientIdentity identity, boolean connected, int subscriptions, int inFlight, int queued) {}
