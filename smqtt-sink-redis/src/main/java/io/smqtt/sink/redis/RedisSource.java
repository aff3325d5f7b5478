// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.protocol.AsyncCommand;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Map;
import reactor.core.publisher.Mono;

/** A member of a consumer group of a stream. Each run has a thread of its own; all of them use one connection. */
@AnyThread
final class RedisSource implements Source {

    private static final Duration CLOSE = Duration.ofSeconds(3);
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final SourceContext context;
    private final StreamPlace place;
    private final RedisConnection connection;
    private final SourceRuns runs;

    /** Checks settings, and that files can be read. Blocks. */
    RedisSource(SourceContext context) {
        this.context = context;
        this.place = StreamPlace.of(context);
        this.runs = new SourceRuns("smqtt-source-" + context.name(), CLOSE);
        this.connection =
                new RedisConnection(RedisServers.of(context.settings(), "smqtt-source-" + context.name(), CONNECT));
    }

    @Override
    public Mono<Void> run(SourceOutput out) {
        return runs.run(() -> new StreamRun(context, place, new GroupReader(connection, place), out));
    }

    @Override
    public Mono<Void> ended() {
        return runs.ended();
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
        runs.close();
        connection.close();
    }
}
