// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The client frames of a {@link ClusterNode}: to other members by the transport, to itself by a task. */
@OnClusterLoop
final class NodeWire implements ClientWire {

    private final Supplier<NodeIdentity> self;
    private final Map<String, Member> members;
    private final BiConsumer<Member, Frame.Client> others;
    private final Consumer<Frame.Client> itself;
    private final LoopTasks tasks;
    private final ClusterClock clock;
    private final Ticker ticker;

    /**
     * Creates the wire of a node.
     *
     * @param self this node, in its current run
     * @param members the other nodes, by name
     * @param others sends a frame to a member
     * @param itself handles frames of this node to itself
     */
    NodeWire(
            Supplier<NodeIdentity> self,
            Map<String, Member> members,
            BiConsumer<Member, Frame.Client> others,
            Consumer<Frame.Client> itself,
            LoopTasks tasks,
            ClusterClock clock,
            Ticker ticker) {
        this.self = self;
        this.members = members;
        this.others = others;
        this.itself = itself;
        this.tasks = tasks;
        this.clock = clock;
        this.ticker = ticker;
    }

    @Override
    public NodeIdentity self() {
        return self.get();
    }

    @Override
    public Collection<String> others() {
        List<String> all = new ArrayList<>();
        for (Member member : members.values()) {
            if (member.isReachable()) {
                all.add(member.nodeId());
            }
        }
        return all;
    }

    @Override
    public boolean reaches(String nodeId, long epoch) {
        Member member = members.get(nodeId);
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
        Member member = members.get(nodeId);
        if (member != null) {
            others.accept(member, frame);
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
