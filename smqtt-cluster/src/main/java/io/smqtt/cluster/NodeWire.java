// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The client frames of a {@link ClusterNode}: to other members by the transport, to itself by a task. */
@OnClusterLoop
final class NodeWire implements ClientWire {

    private final FrameSender frames;
    private final Membership membership;
    private final Consumer<Frame.Client> itself;
    private final LoopTasks tasks;
    private final ClusterClock clock;
    private final Ticker ticker;

    /**
     * Creates the wire of a node.
     *
     * @param frames sends frames to members
     * @param membership the other nodes
     * @param itself handles frames of this node to itself
     */
    NodeWire(
            FrameSender frames,
            Membership membership,
            Consumer<Frame.Client> itself,
            LoopTasks tasks,
            ClusterClock clock,
            Ticker ticker) {
        this.frames = frames;
        this.membership = membership;
        this.itself = itself;
        this.tasks = tasks;
        this.clock = clock;
        this.ticker = ticker;
    }

    @Override
    public NodeIdentity self() {
        return frames.self();
    }

    @Override
    public Collection<String> others() {
        List<String> all = new ArrayList<>();
        for (Member member : membership.all()) {
            if (member.isReachable()) {
                all.add(member.nodeId());
            }
        }
        return all;
    }

    @Override
    public boolean knowsOthers() {
        return membership.knowsAllPresent();
    }

    @Override
    public Collection<String> keepers() {
        return membership.keepers();
    }

    @Override
    public boolean isKeeper() {
        return !membership.isFront();
    }

    @Override
    public boolean ignoresServers(String nodeId) {
        Member member = membership.find(nodeId);
        return member != null && member.ignoresServers();
    }

    @Override
    public void introduce(String nodeId) {
        membership.mayWantAll(nodeId, ticker.nanoTime());
    }

    @Override
    public boolean reaches(String nodeId, long epoch) {
        Member member = membership.find(nodeId);
        return member == null
                ? self().equals(new NodeIdentity(nodeId, epoch))
                : member.isReachable() && member.epoch() == epoch;
    }

    @Override
    public void send(String nodeId, Frame.Client frame) {
        if (nodeId.equals(self().nodeId())) {
            tasks.execute(() -> itself.accept(frame));
            return;
        }
        Member member = membership.find(nodeId);
        Peer peer = member == null ? null : member.peer();
        if (peer == null) {
            return;
        }
        if (frame instanceof Frame.SessionPart) {
            frames.sendBulk(peer, frame);
        } else {
            frames.send(peer, frame);
        }
    }

    @Override
    public long nextClock() {
        return clock.next();
    }

    @Override
    public void heardClock(long time) {
        clock.observe(time);
    }

    @Override
    public long nanoTime() {
        return ticker.nanoTime();
    }

    @Override
    public void later(long millis, Runnable task) {
        tasks.schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    @AnyThread
    public void execute(Runnable task) {
        tasks.execute(task);
    }
}
