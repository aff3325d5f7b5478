// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.session.InProcess;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Claims of filters for exclusive subscriptions. They are decided like those of client identifiers: one after the other for each filter, each when all
 * other nodes have confirmed that no other client has it there.
 */
@OnClusterLoop
final class FilterClaims {

    /** No client identifier begins so. */
    private static final String KEY = InProcess.PREFIX + "$exclusive/";

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);

    private final ClientWire wire;
    private final LocalClients local;
    private final Claims claims;

    FilterClaims(ClientWire wire, LocalClients local, Claims claims) {
        this.wire = wire;
        this.local = local;
        this.claims = claims;
    }

    /**
     * Claims a filter.
     *
     * @param take claims it on this node
     * @param outcome whether the client has it now
     */
    void claim(String filter, String clientId, BooleanSupplier take, Consumer<Boolean> outcome) {
        ClientIdentity key = new ClientIdentity(KEY + filter, clientId, NOWHERE, "", ProtocolVersion.MQTT_5, Set.of());
        claims.claim(key, Frame.Purpose.EXCLUSIVE, false, refusal -> {
            boolean taken = refusal == null && take.getAsBoolean();
            claims.abandon(key);
            outcome.accept(taken);
        });
    }

    /** Answers the node that decides. */
    void release(NodeIdentity from, Frame.Release release) {
        wire.heardClock(release.clock());
        String holder = local.exclusiveHolder(release.claim().clientId().substring(KEY.length()));
        boolean free = holder == null || Objects.equals(holder, release.userName());
        wire.send(
                from.nodeId(),
                new Frame.Released(release.claim(), free ? Frame.Outcome.FREE : Frame.Outcome.REFUSED, 0));
    }
}
