// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.UnservedStores;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a stored session may begin for a client whose session was found on no node. With replicas it may not on the smaller side of a partition,
 * nor while the client has a session in a store that no node serves: there would be two of them, to be merged later.
 */
@OnClusterLoop
final class NewSessions {

    private static final String READING = "this node reads which sessions are in stores that no node serves";

    private final ClientWire wire;
    private final LocalClients local;

    NewSessions(ClientWire wire, LocalClients local) {
        this.wire = wire;
        this.local = local;
    }

    private List<String> reached() {
        List<String> nodes = new ArrayList<>(wire.others());
        nodes.add(wire.self().nodeId());
        return nodes;
    }

    /** Whether sessions may be found in a moment that no node serves now. */
    boolean isAwaited() {
        return local.isAwaited(reached());
    }

    /** Whether the session of a claim may be in a store that is about to be served. One that ends a session here need not wait for that. */
    boolean mayWait(Frame.Release release, long mine) {
        return release.purpose() == Frame.Purpose.RESUME
                ? mine == LocalClients.NONE || local.isAdopted(release.claim().clientId())
                : mine == LocalClients.NONE && release.guarded();
    }

    /** Whether a claim has to know the nodes that have confirmed it. */
    boolean isGuarded() {
        return local.unserved().isGuarded();
    }

    /** Whether the session is in the own store, which is not served: it can neither move nor end. */
    boolean isOutOfReach(Frame.Release release) {
        return release.guarded()
                && !local.unserved().isOwnServed()
                && local.isStored(release.claim().clientId());
    }

    /** Answers the node that decides: this one serves no session of the client, but the client may have one in a store that no node serves. */
    void free(String to, Frame.Release release) {
        UnservedStores.Lookup found =
                release.guarded() ? find(release.claim().clientId()) : UnservedStores.Lookup.NOTHING;
        String home = isOutOfReach(release) ? wire.self().nodeId() : found.home();
        Frame.Outcome outcome = found.isComplete() ? Frame.Outcome.FREE : Frame.Outcome.BUSY;
        wire.send(to, new Frame.Released(release.claim(), outcome, 0, home == null ? "" : home));
    }

    private UnservedStores.Lookup find(String clientId) {
        return local.unserved().find(clientId, reached());
    }

    /**
     * Decides before any node is asked: a clean start must end no session where no other one may begin.
     *
     * @return null if a session may begin, or is here; otherwise why none may
     */
    @Nullable
    String refusal(String clientId) {
        return local.hasSession(clientId) ? null : local.unserved().refusal(reached());
    }

    /**
     * Decides when all nodes that are reached have released the client identifier.
     *
     * @return null if a session may begin, or is here; otherwise why none may
     */
    @Nullable
    String refusal(Frame.Granted decision) {
        String clientId = decision.clientId();
        if (!isGuarded() || local.hasSession(clientId)) {
            return null;
        }
        List<String> confirmed = reached();
        List<String> answered = decision.answered();
        if (!answered.isEmpty()) { // earlier versions do not name them
            confirmed.removeIf(
                    node -> !answered.contains(node) && !node.equals(wire.self().nodeId()));
        }
        String refusal = local.unserved().refusal(confirmed);
        if (refusal != null) {
            return refusal;
        }
        UnservedStores.Lookup here = find(clientId);
        String home = decision.unserved().isEmpty() ? here.home() : decision.unserved();
        if (home != null) {
            return "the session is in the store of node " + home + ", which no node serves now";
        }
        return here.isComplete() ? null : READING;
    }
}
