// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.BrokerBuilder;
import io.smqtt.bytes.NameCache;
import io.smqtt.config.ClusterConfig;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.test.TestBroker;
import io.smqtt.test.store.ManualStore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Carries frames between brokers of one JVM, all on one thread. */
final class LoopbackHub {

    private final ExecutorService thread = Executors.newSingleThreadExecutor(new DefaultThreadFactory("hub", true));
    private final List<End> ends = new CopyOnWriteArrayList<>();
    private final Set<Set<String>> cuts = new HashSet<>();
    private final Set<List<String>> lossy = new HashSet<>();
    private final Map<String, End> ended = new HashMap<>();
    private final NameCache names = new NameCache(100);
    private boolean losesCalls;
    private volatile int calls;

    ClusterTransport transport(String name) {
        return new End(name);
    }

    /** Starts a broker with a cluster whose SUBACK waits for the other nodes. */
    TestBroker start(String nodeId, @Nullable ManualStore with) {
        return start(nodeId, with, parts -> parts);
    }

    /** The same with other parts, too. */
    TestBroker start(String nodeId, @Nullable ManualStore with, UnaryOperator<BrokerBuilder> more) {
        ClusterConfig config = ClusterConfig.builder()
                .subscribeSync(ClusterConfig.SubscribeSync.ACKED)
                .build();
        ClusterModule module = new ClusterModule(config, nodeId, transport(nodeId), ClusterSettings.defaults());
        return TestBroker.builder()
                .parts(parts -> more.apply(parts.module(module).store(with)))
                .start();
    }

    /** Two nodes do not reach each other any more, and know it. */
    void cut(String one, String other) {
        change(one, other, true);
    }

    /** Two nodes reach each other again. */
    void heal(String one, String other) {
        change(one, other, false);
    }

    /** Two nodes do not reach each other, and never did. */
    void neverMeet(String one, String other) {
        thread.execute(() -> cuts.add(Set.of(one, other)));
    }

    /** Frames of one node to another one are lost from now on, which nobody notices yet. */
    void lose(String from, String to) {
        thread.execute(() -> lossy.add(List.of(from, to)));
    }

    /** Frames of one node to another one are carried again. */
    void carry(String from, String to) {
        thread.execute(() -> lossy.remove(List.of(from, to)));
    }

    /** A node ends, which nobody notices yet. */
    void crash(String name) {
        thread.execute(() -> {
            ended.put(name, end(name));
            ends.remove(end(name));
        });
    }

    /** The others notice that. */
    void noticed(String name) {
        thread.execute(() -> ends.forEach(end -> end.handler.down(ended.get(name))));
    }

    /** Whether calls about messages that wait for groups are lost without a notice. */
    void loseCalls(boolean lost) {
        thread.execute(() -> losesCalls = lost);
    }

    /** How many calls about messages that wait for groups were sent so far, those that were lost included. */
    int calls() {
        return calls;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread
    private boolean isLostCall(byte[] frame) {
        boolean call = FrameCodec.decode(frame, 0, names).frame() instanceof Frame.GroupCall;
        calls += call ? 1 : 0;
        return call && losesCalls;
    }

    private void change(String one, String other, boolean cut) {
        thread.execute(() -> {
            End first = end(one);
            End second = end(other);
            if (cut) {
                cuts.add(Set.of(one, other));
                first.handler.down(second);
                second.handler.down(first);
            } else {
                cuts.remove(Set.of(one, other));
                first.handler.up(second);
                second.handler.up(first);
            }
        });
    }

    private End end(String name) {
        return ends.stream().filter(end -> end.name.equals(name)).findFirst().orElseThrow();
    }

    private final class End implements ClusterTransport, ClusterTransport.Peer {

        private final String name;
        private Handler handler;

        End(String name) {
            this.name = name;
        }

        @Override
        public Mono<Void> start(Handler first) {
            return Mono.create(sink -> thread.execute(() -> {
                handler = first;
                for (End other : ends) {
                    if (!cuts.contains(Set.of(name, other.name))) {
                        other.handler.up(this);
                        handler.up(other);
                    }
                }
                ends.add(this);
                sink.success();
            }));
        }

        @Override
        public boolean send(Peer peer, byte[] frame, boolean bulk) {
            thread.execute(() -> {
                End to = (End) peer;
                boolean arrives = !cuts.contains(Set.of(name, to.name)) && !lossy.contains(List.of(name, to.name));
                if (!isLostCall(frame) && arrives && ends.contains(this) && ends.contains(to)) {
                    to.handler.received(this, frame);
                }
            });
            return true;
        }

        @Override
        public Mono<Void> stop() {
            return Mono.create(sink -> thread.execute(() -> {
                ends.remove(this);
                ends.forEach(other -> other.handler.down(this));
                sink.success();
            }));
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
