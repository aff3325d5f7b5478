// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The cluster-wide directory of client identifiers, for the broker. */
@AnyThread
final class Directory implements ClientDirectory {

    private static final Logger LOG = LoggerFactory.getLogger(Directory.class);
    private static final Duration LONGEST_SUBACK = Duration.ofMillis(500);

    private final Executor loop;
    private final Supplier<@Nullable ClusterNode> node;
    private final boolean holdsSubAck;

    /**
     * Creates a directory.
     *
     * @param loop the cluster's loop
     * @param node the node, or null before the start
     * @param holdsSubAck whether each SUBACK waits until the others know the routes
     */
    Directory(Executor loop, Supplier<@Nullable ClusterNode> node, boolean holdsSubAck) {
        this.loop = loop;
        this.node = node;
        this.holdsSubAck = holdsSubAck;
    }

    @Override
    public Mono<Void> claim(ClientIdentity client, boolean cleanStart) {
        return claim(client, cleanStart, false);
    }

    @Override
    public Mono<Void> claim(ClientIdentity client, boolean cleanStart, boolean stored) {
        if (InProcess.isLocalOnly(client.clientId())) { // other nodes may have the same name
            return Mono.empty();
        }
        return Mono.create(sink -> {
            ClusterNode running = node.get();
            if (running == null) {
                sink.success();
                return;
            }
            boolean asked = execute(() -> running.clients().claim(client, cleanStart, stored, refused -> {
                if (refused == null) {
                    sink.success();
                } else {
                    sink.error(refused);
                }
            }));
            if (!asked) {
                sink.error(new ClaimRefusedException(ReasonCode.SERVER_SHUTTING_DOWN));
            }
            sink.onCancel(() -> settled(client));
        });
    }

    @Override
    public void settled(ClientIdentity client) {
        ClusterNode running = node.get();
        if (running != null && !InProcess.isLocalOnly(client.clientId())) {
            execute(() -> running.clients().settled(client));
        }
    }

    @Override
    public boolean claimsFilters() {
        return true;
    }

    @Override
    public Mono<Boolean> claimFilter(TopicFilter filter, String clientId, BooleanSupplier take) {
        return Mono.create(sink -> {
            ClusterNode running = node.get();
            if (running == null) {
                sink.success(take.getAsBoolean());
                return;
            }
            boolean asked =
                    execute(() -> running.clients().filters().claim(filter.value(), clientId, take, sink::success));
            if (!asked) {
                sink.success(false);
            }
        });
    }

    /** Returns false if the loop has ended. */
    private boolean execute(Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("the cluster's loop has ended", e);
            return false;
        }
    }

    @Override
    public Mono<Void> subscribed() {
        return Mono.create(sink -> {
            ClusterNode running = node.get();
            if (running == null) {
                sink.success();
                return;
            }
            Runnable then = holdsSubAck
                    ? () -> running.clients().whenKnown(LONGEST_SUBACK, all -> sink.success())
                    : sink::success;
            if (!execute(() -> running.retained().catchUp().whenOver(then))) {
                sink.success();
            }
        });
    }

    @Override
    public boolean holdsSubAck() {
        ClusterNode running = node.get();
        return holdsSubAck || (running != null && running.retained().catchUp().isClosed());
    }
}
