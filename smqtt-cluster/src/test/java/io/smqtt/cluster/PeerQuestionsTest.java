// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.PeerQueries;
import io.smqtt.test.BrokerExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

class PeerQuestionsTest {

    private static final Duration SHORT = Duration.ofMillis(200);

    private final BrokerCluster cluster = new BrokerCluster();

    @RegisterExtension
    final BrokerExtension a = cluster.broker(false);

    @RegisterExtension
    final BrokerExtension b = cluster.broker(false);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Mono<byte[]> ask(String name, byte[] question, Duration deadline) {
        return cluster.questions(0).ask("b", name, question, deadline);
    }

    @Test
    void anotherNodeAnswers() {
        cluster.questions(1)
                .answer("twice", asked -> Mono.just(bytes(new String(asked, StandardCharsets.UTF_8).repeat(2))));

        assertThat(ask("twice", bytes("ab"), BrokerCluster.PATIENCE).block()).isEqualTo(bytes("abab"));
    }

    @Test
    void aLongAnswerTravelsInParts() {
        byte[] long1 = new byte[5 * PeerQuestions.PART_BYTES + 7];
        Arrays.fill(long1, (byte) 3);
        cluster.questions(1).answer("long", asked -> Mono.just(long1));
        cluster.questions(1).answer("none", asked -> Mono.just(new byte[0]));

        assertThat(ask("long", new byte[0], BrokerCluster.PATIENCE).block()).isEqualTo(long1);
        assertThat(ask("none", new byte[0], BrokerCluster.PATIENCE).block()).isEmpty();
    }

    @Test
    void whatNobodyAnswersEndsWithTheDeadline() {
        cluster.questions(1).answer("fails", asked -> Mono.error(new IllegalStateException("no")));

        for (String name : new String[] {"unknown", "fails"}) {
            assertThatThrownBy(() -> ask(name, new byte[0], SHORT).block())
                    .satisfies(error -> assertThat(Exceptions.unwrap(error)).isInstanceOf(TimeoutException.class));
        }
    }

    @Test
    void aNodeThatCannotBeReachedIsNotWaitedFor() {
        assertThatThrownBy(() -> cluster.questions(0)
                        .ask("z", "any", new byte[0], Duration.ofHours(1))
                        .block())
                .isInstanceOf(IllegalStateException.class);
        cluster.cutOff(1);
        assertThatThrownBy(() -> ask("any", new byte[0], Duration.ofHours(1)).block())
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ask("any", new byte[PeerQueries.MAX_QUESTION_BYTES + 1], SHORT)
                        .block())
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aNameHasOneAnswer() {
        cluster.questions(1).answer("one", asked -> Mono.empty());

        assertThatThrownBy(() -> cluster.questions(1).answer("one", asked -> Mono.empty()))
                .isInstanceOf(IllegalStateException.class);
    }
}
