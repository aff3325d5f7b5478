// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.spi.ClusterTransport;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import reactor.core.publisher.Mono;

/** Carries frames between brokers of one JVM, all on one thread. */
final class LoopbackHub {

    private final ExecutorService thread = Executors.newSingleThreadExecutor(new DefaultThreadFactory("hub", true));
    private final List<End> ends = new CopyOnWriteArrayList<>();

    ClusterTransport transport(String name) {
        return new End(name);
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
                    other.handler.up(this);
                    handler.up(other);
                }
                ends.add(this);
                sink.success();
            }));
        }

        @Override
        public boolean send(Peer peer, byte[] frame, boolean bulk) {
            thread.execute(() -> {
                if (ends.contains(this) && ends.contains(peer)) {
                    ((End) peer).handler.received(this, frame);
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
