// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import io.smqtt.message.LogText;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSetting;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Makes sinks of the type {@code console}, which write rows into the log of the broker. */
public final class ConsoleSinkFactory implements SinkFactory {

    private static final Logger LOG = LoggerFactory.getLogger(ConsoleSinkFactory.class);
    private static final String TEXT = "text";
    private static final int MOST_CHARACTERS = 4_096;

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public ConsoleSinkFactory() {}

    @Override
    public String type() {
        return "console";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(SinkSetting.template(TEXT, null, "the line; by default the row as JSON"));
    }

    @Override
    public Sink open(SinkContext context) {
        return new ConsoleSink(context.label(), context.settings().templateOrNull(TEXT));
    }

    private record ConsoleSink(String label, @Nullable RowTemplate text) implements Sink {

        @Override
        public Mono<BatchResult> send(List<SinkRecord> batch) {
            return Mono.fromSupplier(() -> {
                for (SinkRecord each : batch) {
                    String line = text == null ? RowText.json(each.row()) : text.text(each.row());
                    boolean whole = line.length() <= MOST_CHARACTERS;
                    LOG.info(
                            "rule {}: {}",
                            label,
                            LogText.escape(whole ? line : line.substring(0, MOST_CHARACTERS) + "…"));
                }
                return BatchResult.DONE;
            });
        }

        @Override
        public Mono<Void> check() {
            return Mono.empty();
        }

        @Override
        public void close() {}
    }
}
