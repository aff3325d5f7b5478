// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;

/**
 * A connection to Redis, to which a cluster adds one for each node. It is opened when it is needed; one that has ended, or on which a command
 * was given up, is replaced at the next use. Has threads of its own.
 */
@AnyThread
final class RedisConnection implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RedisConnection.class);
    private static final int THREADS = 2; // the least that Lettuce takes
    private static final Duration TOPOLOGY_AGE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final ClientResources resources;
    private final AbstractRedisClient client;
    private final Supplier<CompletionStage<? extends StatefulConnection<byte[], byte[]>>> connector;
    private final AtomicReference<@Nullable CompletableFuture<Opened>> current = new AtomicReference<>();
    private volatile boolean closed;

    /**
     * The end of connecting. A failure is a value, since Reactor logs the exception of each future without a subscriber.
     *
     * @param connection the connection, or null
     * @param error why there is none, or null
     */
    private record Opened(
            @Nullable StatefulConnection<byte[], byte[]> connection,
            @Nullable Throwable error) {

        boolean isOpen() {
            return connection != null && connection.isOpen();
        }

        Mono<StatefulConnection<byte[], byte[]>> orError() {
            return connection != null
                    ? Mono.just(connection)
                    : Mono.error(error != null ? error : new IllegalStateException("no connection"));
        }
    }

    /** Prepares connections, without opening one. */
    RedisConnection(RedisServers servers) {
        resources = ClientResources.builder()
                .ioThreadPoolSize(THREADS)
                .computationThreadPoolSize(THREADS)
                .threadFactoryProvider(pool -> new DefaultThreadFactory(servers.name() + "-" + pool, true))
                .build();
        if (servers.cluster()) {
            RedisClusterClient nodes = RedisClusterClient.create(resources, servers.uris());
            // a connection to a node is opened by its first command, which must wait for it
            nodes.setOptions(ClusterClientOptions.builder(options(servers, DisconnectedBehavior.ACCEPT_COMMANDS)
                            .build())
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .enablePeriodicRefresh(TOPOLOGY_AGE)
                            .build())
                    .build());
            client = nodes;
            connector = () ->
                    nodes.refreshPartitionsAsync().thenCompose(known -> nodes.connectAsync(ByteArrayCodec.INSTANCE));
        } else {
            RedisClient one = RedisClient.create(resources);
            one.setOptions(options(servers, DisconnectedBehavior.REJECT_COMMANDS)
                    .autoReconnect(false)
                    .build());
            client = one;
            connector = () ->
                    one.connectAsync(ByteArrayCodec.INSTANCE, servers.uris().get(0));
        }
    }

    private static ClientOptions.Builder options(RedisServers servers, DisconnectedBehavior disconnected) {
        SslOptions.Builder tls = SslOptions.builder().jdkSslProvider().handshakeTimeout(servers.timeout());
        if (servers.authorities() != null) {
            tls.trustManager(servers.authorities().toFile());
        }
        return ClientOptions.builder()
                .disconnectedBehavior(disconnected)
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(servers.timeout())
                        .keepAlive(true)
                        .build())
                .sslOptions(tls.build());
    }

    /**
     * Uses the connection.
     *
     * @param work what is done with it; when that is cancelled, the connection is closed, because later commands would wait behind unanswered ones
     * @return the result of the work, or why there is no connection
     */
    <T> Mono<T> use(Function<StatefulConnection<byte[], byte[]>, Mono<T>> work) {
        return Mono.defer(() -> {
            CompletableFuture<Opened> opened = connection();
            return Mono.fromFuture(opened, true)
                    .flatMap(Opened::orError)
                    .flatMap(connection -> work.apply(connection).doFinally(signal -> {
                        if (signal == SignalType.CANCEL && current.compareAndSet(opened, null)) {
                            connection.closeAsync();
                        }
                    }));
        });
    }

    /** The connection, which is opened if there is none that works. It never completes with an exception. */
    private CompletableFuture<Opened> connection() {
        while (!closed) {
            CompletableFuture<Opened> now = current.get();
            if (now != null && (!now.isDone() || now.join().isOpen())) {
                return now;
            }
            CompletableFuture<Opened> next = new CompletableFuture<>();
            if (current.compareAndSet(now, next)) {
                // reading certificates takes a while
                Schedulers.boundedElastic().schedule(() -> connect(next));
                return next;
            }
        }
        return CompletableFuture.completedFuture(new Opened(null, new IllegalStateException("the sink is closed")));
    }

    private void connect(CompletableFuture<Opened> next) {
        try {
            connector.get().whenComplete((connection, error) -> next.complete(new Opened(connection, error)));
        } catch (RuntimeException e) {
            next.complete(new Opened(null, e));
        }
    }

    /** Closes connections and threads. Blocks for some seconds at most. */
    @Override
    public void close() {
        closed = true;
        try {
            client.shutdownAsync(0, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            resources
                    .shutdown(0, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            LOG.debug("connections did not close in time", e);
        }
    }
}
