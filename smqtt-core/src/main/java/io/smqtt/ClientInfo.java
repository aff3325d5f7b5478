// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.ClientIdentity;

/**
 * A session of the broker, as a snapshot.
 *
 * @param identity the identity of the client, from its last connection if it is offline
 * @param connected whether it is connected
 * @param subscriptions how many subscriptions it has
 * @param inFlight messages sent and not yet acknowledged
 * @param queued messages in the queue
 */
public record ClientInfo(ClientIdentity identity, boolean connected, int subscriptions, int inFlight, int queued) {}
