// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class SourceLagTest {

    private static final long SECOND = 1_000_000_000L;

    private final List<String> told = new ArrayList<>();
    private long now;
    private final SourceLag lag = new SourceLag(new Output(), Duration.ofSeconds(5), () -> now);

    private final class Output implements SourceOutput {

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.just(true);
        }

        @Override
        public boolean isPaused() {
            return false;
        }

        @Override
        public void rejected(String reason) {}

        @Override
        public void failing(String reason) {}

        @Override
        public void working() {}

        @Override
        public void lag(long messages) {
            told.add(Long.toString(messages));
        }

        @Override
        public void lagUnknown() {
            told.add("unknown");
        }
    }

    private void after(int seconds, SourceLag.Question question) {
        now += seconds * SECOND;
        lag.tell(question);
    }

    @Test
    void lagThatIsUnknownForAMomentIsAbsentUntilItIsKnownAgain() {
        after(4, () -> OptionalLong.of(1));
        after(1, () -> OptionalLong.of(3));
        after(5, OptionalLong::empty);
        after(4, () -> OptionalLong.of(7));
        after(1, () -> OptionalLong.of(9));

        assertThat(told).containsExactly("3", "unknown", "9");
    }

    @Test
    void afterAnErrorItIsAskedAgainAMinuteLater() {
        after(5, () -> OptionalLong.of(3));
        after(5, () -> {
            throw new SinkException("NOPERM", true);
        });
        after(59, () -> OptionalLong.of(7));
        after(1, () -> OptionalLong.of(9));

        assertThat(told).containsExactly("3", "unknown", "9");
    }
}
