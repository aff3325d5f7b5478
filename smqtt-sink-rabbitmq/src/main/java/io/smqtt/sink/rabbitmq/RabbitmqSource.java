// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A consumer of a queue. Each run has a connection and a thread of its own. */
@AnyThread
final class RabbitmqSource implements Source {

    private static final Duration CLOSE = Duration.ofSeconds(4);
    private static final int PROBE_CLOSE_MILLIS = 500;

    private final SourceContext context;
    private final RabbitmqServers servers;
    private final SourceRuns runs;
    private volatile boolean closed;

    RabbitmqSource(SourceContext context, RabbitmqServers servers) {
        this.context = context;
        this.servers = servers;
        this.runs = new SourceRuns(servers.name(), CLOSE);
    }

    @Override
    public Mono<Void> run(SourceOutput out) {
        return runs.run(() -> new QueueRun(context, servers, out));
    }

    @Override
    public Mono<Void> ended() {
        return runs.ended();
    }

    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(this::probe).subscribeOn(Schedulers.boundedElastic());
    }

    private void probe() {
        if (closed) {
            throw new SinkException("the source is closed", true);
        }
        try {
            Connection connection = servers.connect(socket -> {});
            try {
                Channel channel = connection
                        .openChannel()
                        .orElseThrow(() -> new IOException("the server gives no more channels"));
                channel.queueDeclarePassive(context.settings().text(RabbitmqSourceFactory.QUEUE));
            } finally {
                connection.abort(PROBE_CLOSE_MILLIS);
            }
        } catch (IOException | ShutdownSignalException | ConfigurationException e) {
            throw RabbitmqFailure.of(e, false);
        }
    }

    @Override
    public void close() {
        closed = true;
        runs.close();
    }
}
