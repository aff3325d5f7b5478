// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.rules.sql.RuleInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentInputsTest {

    private int made;

    private RuleInput get(RecentInputs inputs, ApplicationMessage message) {
        return inputs.get(message, () -> {
            made++;
            return RuleInput.of(Map.of());
        });
    }

    private static List<ApplicationMessage> messages(int count, int bytes) {
        return IntStream.range(0, count)
                .mapToObj(i -> ApplicationMessage.builder("t")
                        .payload(Payload.of(new byte[bytes]))
                        .build()
                        .accepted(1L << 40 | i, 0, null))
                .toList();
    }

    @Test
    void burstOfOneActionIsThereForTheNextOne() {
        RecentInputs inputs = new RecentInputs();
        List<ApplicationMessage> burst = messages(256, 100);

        List<RuleInput> first = new ArrayList<>();
        burst.forEach(message -> first.add(get(inputs, message)));
        List<RuleInput> second = new ArrayList<>();
        burst.forEach(message -> second.add(get(inputs, message)));

        assertThat(second).isEqualTo(first);
        assertThat(made).isEqualTo(256);
    }

    @Test
    void messagesWithoutAnIdentifierAreNotConfused() {
        RecentInputs inputs = new RecentInputs();
        ApplicationMessage unnumbered = ApplicationMessage.builder("t").build();

        assertThat(get(inputs, unnumbered)).isNotSameAs(get(inputs, unnumbered));
    }

    @Test
    void inputsOfLargeMessagesAreBounded() {
        RecentInputs inputs = new RecentInputs(100_000L * RecentInputs.BYTES_OF_A_BYTE);
        List<ApplicationMessage> burst = messages(20, 10_000);
        burst.forEach(message -> get(inputs, message));
        made = 0;

        burst.forEach(message -> get(inputs, message));
        assertThat(made).isBetween(10, 20);
    }

    @Test
    void oneMessageBeyondTheLimitIsKeptWhileTheThreadIsBusy() {
        RecentInputs inputs = new RecentInputs(100_000L * RecentInputs.BYTES_OF_A_BYTE);
        List<ApplicationMessage> large = messages(2, 100_001);
        get(inputs, large.get(0));
        get(inputs, large.get(0));
        assertThat(made).isEqualTo(1);

        get(inputs, large.get(1));
        get(inputs, large.get(0));
        assertThat(made).isEqualTo(3);

        inputs.forgetLarge();
        get(inputs, large.get(0));
        assertThat(made).isEqualTo(4);
    }

    /** The most that is made of a payload: its tree, and the bytes and the text of it. */
    @Test
    void theTreeOfAPayloadCountsWithIt() {
        RecentInputs inputs = new RecentInputs(1 << 20);
        List<ApplicationMessage> burst = messages(64, 10_000);
        burst.forEach(message -> get(inputs, message));
        made = 0;

        burst.forEach(message -> get(inputs, message));

        assertThat(made).as("64 trees of up to 240 kB do not fit into 1 MiB").isGreaterThan(60);
    }
}
