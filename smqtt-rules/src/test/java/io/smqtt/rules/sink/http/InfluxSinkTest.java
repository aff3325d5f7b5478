// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class InfluxSinkTest extends SinkContract {

    private static final Pattern NUMBER = Pattern.compile("n=(\\d+)i");

    private final HttpPeer peer = peer();

    @TempDir
    Path folder;

    private static HttpPeer peer() {
        try {
            return new HttpPeer();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @AfterEach
    void closePeer() {
        peer.close();
    }

    @Override
    protected Sink open() throws IOException {
        Path token = Files.writeString(folder.resolve("token"), "abc\n");
        return sink(
                new InfluxSinkFactory(),
                message -> Mono.empty(),
                "url",
                peer.url(),
                "org",
                "my org",
                "bucket",
                "b",
                "token-file",
                token.toString(),
                "measurement",
                "m",
                "fields.n",
                "${n}");
    }

    @Override
    protected List<Integer> received() {
        return peer.requests.stream()
                .flatMap(request -> NUMBER.matcher(request.body()).results())
                .map(found -> Integer.valueOf(found.group(1)))
                .toList();
    }

    @Override
    protected boolean hang() {
        peer.hang();
        return true;
    }

    @Override
    protected void answerAgain() {
        peer.answerAgain();
    }

    @Test
    void batchIsOneRequestWithoutTheRowsThatAreNoPoints() throws IOException {
        SinkRecord without = new SinkRecord(Map.of("other", 1L), row(1).origin());
        try (Sink sink = open()) {
            BatchResult result = sink.send(List.of(row(1), without, row(2))).block(PATIENCE);
            assertThat(result.refusals()).hasSize(1);
            assertThat(result.refusals().get(0).index()).isEqualTo(1);
            assertThat(result.refusals().get(0).recoverable()).isFalse();
        }

        assertThat(peer.requests).hasSize(1);
        HttpPeer.Got got = peer.requests.get(0);
        assertThat(got.uri()).isEqualTo("/api/v2/write?org=my+org&bucket=b&precision=ms");
        assertThat(got.headers().getFirst("authorization")).isEqualTo("Token abc");
        assertThat(got.body()).isEqualTo("m n=1i\nm n=2i\n");
    }
}
