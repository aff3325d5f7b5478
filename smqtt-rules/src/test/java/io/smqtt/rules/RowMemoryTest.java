// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.RuleEngineConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RowMemoryTest {

    private final RuleThreads threads =
            new RuleThreads(RuleEngineConfig.builder().threads(1).build());
    private final List<Integer> evaluated = Collections.synchronizedList(new ArrayList<>());
    private int next;
    private RowMemory<Integer> memory;

    @AfterEach
    void close() {
        threads.close();
    }

    /** Lets messages arrive whose rows have 10 bytes each, and waits until they are evaluated or parked. */
    private void arrive(int messages) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(messages);
        for (int i = 0; i < messages; i++) {
            int message = next++;
            threads.execute("t", worker -> {
                memory.evaluate(worker, message);
                done.countDown();
            });
        }
        done.await();
    }

    @Test
    void messageThatCannotBeEvaluatedDoesNotHoldUpThoseBehindIt() throws InterruptedException {
        memory = new RowMemory<>(10, (worker, message) -> {
            evaluated.add(message);
            if (message == 1) {
                throw new OutOfMemoryError("as the test wants it");
            }
            memory.add(10);
        });

        arrive(3);
        memory.free(10);

        await().until(() -> evaluated.size() == 3);
    }

    @Test
    void messagesWaitBeforeTheirEvaluationWhileRowsTakeTooMuchMemory() throws InterruptedException {
        memory = new RowMemory<>(30, (worker, message) -> {
            memory.add(10);
            evaluated.add(message);
        });

        arrive(7);
        assertThat(evaluated).containsExactly(0, 1, 2);

        memory.free(10);
        await().until(() -> evaluated.size() == 4);
        arrive(1);
        assertThat(evaluated).hasSize(4);
        memory.free(30);
        await().until(() -> evaluated.size() == 7);
        memory.free(30);
        await().until(() -> evaluated.size() == 8);
        assertThat(evaluated).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }
}
