// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.KeyValue;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.Value;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.reactive.RedisClusterReactiveCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;

/**
 * Redis by Lettuce, over one connection, to which a cluster adds one for each node. The connection is opened when it is needed; one that
 * has ended, or on which a request was not answered in time, is replaced by the next request. Has threads of its own.
 */
@AnyThread
final class LettuceRedis implements Redis {

    private static final Logger LOG = LoggerFactory.getLogger(LettuceRedis.class);
    private static final String WRONG_TYPE = "WRONGTYPE";
    private static final int THREADS = 2; // the least that Lettuce takes
    private static final Duration TOPOLOGY_AGE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    /**
     * A connection.
     *
     * @param stateful closes it
     * @param commands sends commands
     */
    private record Connection(
            StatefulConnection<String, String> stateful, RedisClusterReactiveCommands<String, String> commands) {}

    /**
     * How connecting has ended. A failure is a value, since Reactor logs the exception of each future that a request has ceased to wait for.
     *
     * @param connection the connection, or null
     * @param error why there is none, or null
     */
    private record Opened(
            @Nullable Connection connection, @Nullable Throwable error) {

        boolean isOpen() {
            return connection != null && connection.stateful().isOpen();
        }

        Mono<Connection> orError() {
            return connection != null
                    ? Mono.just(connection)
                    : Mono.error(error != null ? error : new RedisFailedException("no connection"));
        }
    }

    private final ClientResources resources;
    private final AbstractRedisClient client;
    private final Supplier<CompletionStage<Connection>> connector;
    private final AtomicReference<@Nullable CompletableFuture<Opened>> current = new AtomicReference<>();

    /** Prepares connections, without opening one. */
    LettuceRedis(RedisServers servers) {
        resources = ClientResources.builder()
                .ioThreadPoolSize(THREADS)
                .computationThreadPoolSize(THREADS)
                .threadFactoryProvider(pool -> new DefaultThreadFactory(servers.name() + "-" + pool, true))
                .build();
        if (servers.cluster()) {
            RedisClusterClient nodes = RedisClusterClient.create(resources, servers.uris());
            // a connection to a node is opened by the first command, which must wait for it; the caller's timeout
            // bounds that
            nodes.setOptions(ClusterClientOptions.builder(options(servers, DisconnectedBehavior.ACCEPT_COMMANDS)
                            .build())
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .enablePeriodicRefresh(TOPOLOGY_AGE)
                            .build())
                    .build());
            client = nodes;
            connector = () -> nodes.refreshPartitionsAsync()
                    .thenCompose(known -> nodes.connectAsync(StringCodec.UTF8))
                    .thenApply(connection -> new Connection(connection, connection.reactive()));
        } else {
            RedisClient one = RedisClient.create(resources);
            one.setOptions(options(servers, DisconnectedBehavior.REJECT_COMMANDS)
                    .autoReconnect(false)
                    .build());
            client = one;
            connector = () -> one.connectAsync(StringCodec.UTF8, servers.uris().get(0))
                    .thenApply(connection -> new Connection(connection, connection.reactive()));
        }
    }

    private static ClientOptions.Builder options(RedisServers servers, DisconnectedBehavior disconnected) {
        SslOptions.Builder tls = SslOptions.builder().jdkSslProvider().handshakeTimeout(servers.timeout());
        if (servers.authorities() != null) {
            tls.trustManager(servers.authorities());
        }
        return ClientOptions.builder()
                .disconnectedBehavior(disconnected)
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .requestQueueSize(servers.maxWaiting())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(servers.timeout())
                        .keepAlive(true)
                        .build())
                .sslOptions(tls.build());
    }

    @Override
    public void start() {
        connection().thenAccept(opened -> {
            if (opened.error() != null) {
                LOG.debug("no connection yet", opened.error());
            }
        });
    }

    /** The connection, which is opened if there is none that works. It never completes with an exception. */
    private CompletableFuture<Opened> connection() {
        while (true) {
            CompletableFuture<Opened> now = current.get();
            if (now != null && (!now.isDone() || now.join().isOpen())) {
                return now;
            }
            CompletableFuture<Opened> next = new CompletableFuture<>();
            if (current.compareAndSet(now, next)) {
                // reading certificates takes a while, and the caller may be an event loop
                Schedulers.boundedElastic().schedule(() -> connect(next));
                return next;
            }
        }
    }

    private void connect(CompletableFuture<Opened> next) {
        try {
            connector
                    .get()
                    .whenComplete((connection, error) ->
                            next.complete(new Opened(connection, error == null ? null : cause(error))));
        } catch (RuntimeException e) {
            next.complete(new Opened(null, e));
        }
    }

    /** The innermost cause, whose message says what has happened. */
    private static Throwable cause(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private <T> Mono<T> ask(Function<RedisClusterReactiveCommands<String, String>, Mono<T>> command) {
        return Mono.defer(() -> {
                    CompletableFuture<Opened> opened = connection();
                    return Mono.fromFuture(opened, true)
                            .flatMap(Opened::orError)
                            .flatMap(connection -> command.apply(connection.commands())
                                    .doFinally(signal -> {
                                        if (signal == SignalType.CANCEL) {
                                            discard(opened, connection);
                                        }
                                    }));
                })
                .onErrorResume(LettuceRedis::isWrongType, error -> Mono.empty());
    }

    /**
     * Closes a connection after a timeout: later commands would wait behind the unanswered one. The request is cancelled first, because
     * closing the connection fails its pending commands, and an error without a subscriber would be logged as dropped.
     */
    private void discard(CompletableFuture<Opened> opened, Connection connection) {
        if (current.compareAndSet(opened, null)) {
            connection.stateful().closeAsync();
        }
    }

    private static boolean isWrongType(Throwable error) {
        return error instanceof RedisCommandExecutionException
                && String.valueOf(error.getMessage()).startsWith(WRONG_TYPE);
    }

    @Override
    public Mono<String> text(String key) {
        return ask(commands -> commands.get(key));
    }

    @Override
    public Mono<Map<String, String>> fields(String key, List<String> fields) {
        return ask(commands -> map(commands.hmget(key, fields.toArray(String[]::new))))
                .defaultIfEmpty(Map.of());
    }

    @Override
    public Mono<Map<String, String>> allFields(String key) {
        return ask(commands -> map(commands.hgetall(key))).defaultIfEmpty(Map.of());
    }

    private static Mono<Map<String, String>> map(Flux<KeyValue<String, String>> fields) {
        return fields.filter(Value::hasValue)
                .collect(() -> new HashMap<String, String>(), (map, field) -> {
                    map.put(field.getKey(), field.getValue());
                    checkSize(map.size());
                })
                .map(Map::copyOf);
    }

    @Override
    public Mono<List<String>> members(String key) {
        return ask(commands -> commands.smembers(key)
                        .collect(() -> new ArrayList<String>(), (list, member) -> {
                            list.add(member);
                            checkSize(list.size());
                        })
                        .map(List::copyOf))
                .defaultIfEmpty(List.of());
    }

    private static void checkSize(int size) {
        if (size > MAXIMUM_VALUES) {
            throw new RedisFailedException("more than " + MAXIMUM_VALUES + " values under one key");
        }
    }

    @Override
    public void close() {
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
