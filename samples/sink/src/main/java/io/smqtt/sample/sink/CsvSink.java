// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample.sink;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Appends a line of comma-separated values for each row. */
final class CsvSink implements Sink {

    private final Path path;
    private final List<String> columns;
    private final String separator;

    CsvSink(Path path, List<String> columns, String separator) {
        this.path = path;
        this.columns = columns;
        this.separator = separator;
    }

    /** Writes on a thread that may block: the caller's is one of the broker. */
    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.fromCallable(() -> write(batch)).subscribeOn(Schedulers.boundedElastic());
    }

    private BatchResult write(List<SinkRecord> batch) {
        List<BatchResult.Refusal> refusals = new ArrayList<>();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < batch.size(); i++) {
            Map<String, Object> row = batch.get(i).row();
            if (row.keySet().containsAll(columns)) {
                line(row, lines);
            } else { // this row will never be right: a dead letter; the others are written
                refusals.add(new BatchResult.Refusal(i, "a column is absent", false));
            }
        }
        append(lines);
        return new BatchResult(refusals);
    }

    private synchronized void append(CharSequence lines) {
        try {
            Files.writeString(path, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) { // this may pass: the broker sends the same batch again, before all later ones
            throw new SinkException("cannot write to the file: " + e.getMessage(), true);
        }
    }

    private void line(Map<String, Object> row, StringBuilder lines) {
        for (int i = 0; i < columns.size(); i++) {
            lines.append(i == 0 ? "" : separator).append(quoted(row.get(columns.get(i))));
        }
        lines.append('\n');
    }

    private String quoted(Object value) {
        String text = value == null ? "" : value.toString();
        boolean plain = text.chars().noneMatch(c -> c == '"' || c < ' ') && !text.contains(separator);
        return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }

    /** The check of the health of the broker, and of the button in the dashboard. */
    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(() -> {
                    if (!Files.isWritable(path.toAbsolutePath().getParent())) {
                        throw new SinkException("the folder of the file cannot be written to", true);
                    }
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    @Override
    public void close() {}
}
