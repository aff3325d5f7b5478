// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests the routes of other nodes that are missing here or differ. */
@OnClusterLoop
final class RoutePull {

    private static final Logger LOG = LoggerFactory.getLogger(RoutePull.class);

    private final ClusterSettings settings;
    private final Ticker ticker;
    private final ClusterCounters counters;
    private final BiConsumer<Peer, Frame> wire;

    RoutePull(ClusterSettings settings, Ticker ticker, ClusterCounters counters, BiConsumer<Peer, Frame> wire) {
        this.settings = settings;
        this.ticker = ticker;
        this.counters = counters;
        this.wire = wire;
    }

    /** Requests missing routes, but not again while an answer may be in flight. */
    void requestMissing(Member member, PeerRoutes.Outcome outcome) {
        Peer peer = member.peer();
        if (outcome == PeerRoutes.Outcome.FINE) {
            if (!member.routes().isAssembling()) {
                member.askedAtNanos = Member.NOT_ASKED;
            }
            return;
        }
        long now = ticker.nanoTime();
        boolean open = member.askedAtNanos != Member.NOT_ASKED
                && now - member.askedAtNanos < settings.pullPatience().toNanos();
        if (open || peer == null) {
            return;
        }
        member.askedAtNanos = now;
        counters.pulled();
        Frame more = outcome == PeerRoutes.Outcome.BEHIND ? member.routes().more(member.epoch(), true, 0) : null;
        if (more != null) {
            wire.accept(peer, more);
            return;
        }
        long have = member.routes().sequenceOf(member.epoch());
        if (outcome == PeerRoutes.Outcome.DIFFERENT) {
            counters.repaired();
            LOG.warn("routes of node {} differ from its digest: requesting all of them", member.identity());
            have = Frame.NOTHING;
        }
        wire.accept(peer, new Frame.Pull(member.epoch(), have));
    }

    /** Requests the next parts of a snapshot in time, so that the transfer does not pause. */
    void requestNextParts(Member member, Frame.Snapshot part) {
        Peer peer = member.peer();
        if (peer == null || part.parts() <= settings.snapshotFrames()) {
            return;
        }
        Frame more;
        if (member.routes().isAssembling()) {
            member.askedAtNanos = ticker.nanoTime();
            more = member.routes().more(member.epoch(), false, Math.max(1, settings.snapshotFrames() / 4));
        } else { // confirms the complete snapshot, and requests later changes
            more = new Frame.More(
                    member.epoch(), member.routes().sequenceOf(member.epoch()), part.number(), part.parts(), false);
        }
        if (more != null) {
            wire.accept(peer, more);
        }
    }
}
