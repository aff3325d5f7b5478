// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ExchangeNumbersTest {

    private final ExchangeNumbers numbers = new ExchangeNumbers(17);

    @Test
    void eachIdentifierHasANumberOfItsOwn() {
        Set<Long> all = new HashSet<>();
        for (int id = 1; id <= 65_535; id++) {
            assertThat(numbers.of(id)).isNotEqualTo(ApplicationMessage.NO_ID);
            all.add(numbers.of(id));
        }

        assertThat(all).hasSize(65_535);
        assertThat(new ExchangeNumbers(17).of(9)).isEqualTo(numbers.of(9));
        assertThat(new ExchangeNumbers(18).of(9)).isNotEqualTo(numbers.of(9));
    }

    @Test
    void rowsComeBeforeWhatIsDerived() {
        Random random = new Random(1);
        Map<Integer, Long> rows = new HashMap<>();
        for (int i = 0; i < 3_000; i++) {
            int id = 1 + random.nextInt(65_535);
            rows.put(id, (long) i);
            numbers.put(id, i);
        }

        assertThat(numbers.size()).isEqualTo(rows.size());
        rows.forEach((id, number) -> {
            assertThat(numbers.has(id)).isTrue();
            assertThat(numbers.of(id)).isEqualTo(number);
        });
        rows.put(ExchangeNumbers.BASE, 17L);
        assertThat(numbers.all()).isEqualTo(rows);
    }

    @Test
    void rowsAreRemovedUnlessTheyStay() {
        for (int id = 1; id <= 100; id++) {
            numbers.put(id, 1_000 + id);
        }
        Set<Integer> removed = new TreeSet<>();
        numbers.put(ExchangeNumbers.BASE, 20);

        numbers.removeUnless(id -> id > 98, removed::add);

        assertThat(removed).hasSize(98).contains(1, 98);
        assertThat(numbers.size()).isEqualTo(2);
        assertThat(numbers.has(98)).isFalse();
        assertThat(numbers.of(98)).isEqualTo(new ExchangeNumbers(20).of(98));
        assertThat(numbers.of(99)).isEqualTo(1_099);
        assertThat(numbers.bytes()).isLessThan(500);
    }
}
