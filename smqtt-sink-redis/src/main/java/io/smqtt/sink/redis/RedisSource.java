// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.protocol.AsyncCommand;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;

/** A member of a consumer group of a stream. Each run has a thread of its own; all of them use one connection. */
@AnyThread
final class RedisSource implements Source {

    private static final int CLOSE_MILLIS = 3_000;
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final SourceContext context;
    private final StreamPlace place;
    private final RedisConnection connection;
    private final Set<StreamRun> runs = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Checks settings, and that files can be read. Blocks. */
    RedisSource(SourceContext context) {
        this.context = context;
        this.place = StreamPlace.of(context);
        this.connection =
                new RedisConnection(RedisServers.of(context.settings(), "smqtt-source-" + context.name(), CONNECT));
    }

    @Override
    public Mono<Void> run(SourceOutput out) {
        return Mono.create(end -> {
            if (closed) {
                end.error(new SinkException("the source is closed", true));
                return;
            }
            StreamRun run = new StreamRun(
                    context.name(),
                    place,
                    new GroupReader(connection, place),
                    context.config().inflight(),
                    out,
                    error -> {
                        if (error == null) {
                            end.success();
                        } else {
                            end.error(error);
                        }
                    });
            runs.removeIf(StreamRun::isOver);
            runs.add(run);
            end.onDispose(run::end);
            run.start();
        });
    }

    @Override
    public Mono<Void> check() {
        return connection
                .use(open -> {
                    AsyncCommand<byte[], byte[], Boolean> ping =
                            CommandTemplate.ping().command(Map.of());
                    open.dispatch(ping);
                    return Mono.fromFuture(ping, true);
                })
                .then()
                .onErrorMap(error -> new SinkException(RedisFailure.of(error).reason(), true));
    }

    @Override
    public void close() {
        closed = true;
        runs.forEach(StreamRun::end);
        runs.forEach(run -> run.await(CLOSE_MILLIS));
        connection.close();
    }
}
