// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Sends a command for each row, those of a batch in one write, without waiting for the answers in between. */
@AnyThread
final class RedisSink implements Sink {

    private static final CommandTemplate PING = CommandTemplate.ping();

    private final RedisConnection connection;
    private final CommandTemplate template;

    RedisSink(RedisConnection connection, CommandTemplate template) {
        this.connection = connection;
        this.template = template;
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return connection
                .use(open -> answers(
                        open,
                        batch.stream().map(each -> template.command(each.row())).toList(),
                        template.hasFixedKeys()))
                .onErrorMap(error -> !(error instanceof SinkException), RedisSink::failure);
    }

    private static Mono<BatchResult> answers(
            StatefulConnection<byte[], byte[]> open,
            List<AsyncCommand<byte[], byte[], Boolean>> commands,
            boolean fixedKeys) {
        open.dispatch(commands);
        CompletableFuture<BatchResult> answered = CompletableFuture.allOf(commands.toArray(CompletableFuture[]::new))
                .handle((all, error) -> result(commands, fixedKeys));
        return Mono.fromFuture(answered, true);
    }

    /** All rows behind one that is sent again are sent again, too: the last value of a key is that of the last message. */
    private static BatchResult result(List<AsyncCommand<byte[], byte[], Boolean>> commands, boolean fixedKeys) {
        List<Refusal> refusals = new ArrayList<>();
        String again = null;
        for (int i = 0; i < commands.size(); i++) {
            Throwable error = error(commands.get(i));
            if (again != null) {
                refusals.add(new Refusal(i, again, true, error == null));
            } else if (error != null) {
                RedisFailure failure = RedisFailure.of(error, fixedKeys);
                refusals.add(new Refusal(i, failure.reason(), failure.mayPass()));
                again = failure.mayPass() ? failure.reason() : null;
            }
        }
        return refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals);
    }

    private static @Nullable Throwable error(CompletableFuture<?> done) {
        try {
            done.join();
            return null;
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        } catch (RuntimeException e) { // cancelled
            return e;
        }
    }

    private static SinkException failure(Throwable error) {
        return new SinkException(RedisFailure.of(error).reason(), true);
    }

    @Override
    public Mono<Void> check() {
        return connection
                .use(open -> {
                    AsyncCommand<byte[], byte[], Boolean> ping = PING.command(Map.of());
                    open.dispatch(ping);
                    return Mono.fromFuture(ping, true);
                })
                .then()
                .onErrorMap(RedisSink::failure);
    }

    @Override
    public void close() {
        connection.close();
    }
}
