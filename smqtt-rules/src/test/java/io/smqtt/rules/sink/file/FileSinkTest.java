// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class FileSinkTest extends SinkContract {

    @TempDir
    Path folder;

    @Override
    protected Sink open() {
        return sink(
                new FileSinkFactory(),
                message -> Mono.empty(),
                "path",
                folder.resolve("out.jsonl").toString(),
                "line",
                "{\"n\":${n}}");
    }

    @Override
    protected List<Integer> received() throws IOException {
        Path file = folder.resolve("out.jsonl");
        return Files.exists(file)
                ? Files.readAllLines(file).stream()
                        .map(line -> Integer.valueOf(line.replaceAll("\\D", "")))
                        .toList()
                : List.of();
    }
}
