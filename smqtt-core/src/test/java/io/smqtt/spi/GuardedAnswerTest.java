// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

class GuardedAnswerTest {

    @Test
    void aValueThatIsPresentBeforeItsRequestIsEmitted() {
        List<String> signals = new ArrayList<>();
        BaseSubscriber<Integer> late = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {} // requests later

            @Override
            protected void hookOnNext(Integer value) {
                signals.add("value " + value);
            }

            @Override
            protected void hookOnComplete() {
                signals.add("end");
            }
        };

        GuardedAnswer.of(Mono.fromFuture(CompletableFuture.completedFuture(1))).subscribe(late);
        assertThat(signals).isEmpty();
        late.request(1);

        assertThat(signals).containsExactly("value 1", "end");
    }

    @Test
    void anEmptyAnswerStaysEmpty() {
        assertThat(GuardedAnswer.of(Mono.<Integer>empty().hide()).blockOptional())
                .isEmpty();
    }

    @Test
    void anErrorThatReactorThrowsIsAnErrorSignal() {
        Mono<Integer> fatal = Mono.defer(() -> {
            throw new NoClassDefFoundError("gone");
        });

        assertThatThrownBy(() -> GuardedAnswer.of(fatal).block()).isInstanceOf(NoClassDefFoundError.class);
    }
}
