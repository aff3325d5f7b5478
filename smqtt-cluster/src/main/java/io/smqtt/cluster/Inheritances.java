// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes over sessions of stopping nodes. Each is claimed in the name of its client, which is absent. A client that connects meanwhile comes
 * first: a node that has its session and does not stop refuses such a claim.
 */
@OnClusterLoop
final class Inheritances {

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);

    private final ClientWire wire;
    private final LocalClients local;
    private final Claims claims;
    private final Consumer<ClientIdentity> opened;
    private final Set<String> open = new HashSet<>();

    /**
     * Creates it without sessions.
     *
     * @param opened called with the client of each session that is here now, while its claim is open
     */
    Inheritances(ClientWire wire, LocalClients local, Claims claims, Consumer<ClientIdentity> opened) {
        this.wire = wire;
        this.local = local;
        this.claims = claims;
        this.opened = opened;
    }

    /** A stopping node asks this one to take a session over. */
    void take(String from, Frame.Inherit offer) {
        String clientId = offer.clientId();
        ClientIdentity client =
                new ClientIdentity(clientId, offer.userName(), NOWHERE, "", ProtocolVersion.MQTT_5, Set.of());
        open.add(clientId);
        claims.claim(client, Frame.Purpose.INHERIT, false, reason -> {
            boolean taken = reason == null && local.clockOf(clientId) != LocalClients.NONE;
            open.remove(clientId);
            if (taken) {
                opened.accept(client);
                if (offer.will() != null) {
                    local.inheritWill(clientId, offer.will());
                }
            } else if (reason == null) {
                claims.abandon(client); // the other node failed: no node has it, and its will is due
            }
            wire.send(from, new Frame.Inherited(clientId, taken));
        });
    }

    /** The number of sessions that may still arrive. */
    int underway() {
        return open.size();
    }
}
