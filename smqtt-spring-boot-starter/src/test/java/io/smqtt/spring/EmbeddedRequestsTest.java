// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.Problem;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class EmbeddedRequestsTest {

    @Test
    void aRequestThatIsNeverAnsweredEndsWith503() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Mono<ApiAnswer> never = Mono.<ApiAnswer>never().doOnCancel(() -> cancelled.set(true));

        ApiAnswer answer = EmbeddedRequests.inTime(never, Duration.ofMillis(1)).block();

        assertThat(answer).isNotNull();
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.headers()).containsEntry("Retry-After", "1");
        assertThat(answer.contentType()).startsWith("application/problem+json");
        assertThat(cancelled).isTrue();
    }

    @Test
    void anAnswerInTimeStaysAsItIs() {
        ApiAnswer answer = Problem.badRequest("wrong").answer();

        assertThat(EmbeddedRequests.inTime(Mono.just(answer), Duration.ofHours(1))
                        .block())
                .isSameAs(answer);
    }
}
