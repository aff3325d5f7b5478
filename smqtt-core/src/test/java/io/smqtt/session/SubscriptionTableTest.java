// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import io.smqtt.topic.TopicFilter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionTableTest {

    private final Session session = new SessionBench(1).open("a", 0, true, 0, new RecordingSink());
    private final SubscriptionTable table = new SubscriptionTable();

    private Subscription subscription(TopicFilter filter, String shareName, int identifier) {
        return new Subscription(session, filter, shareName, QoS.AT_MOST_ONCE, false, false, identifier);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 300, 20_000})
    void agreesWithAMap(int filters) {
        Random random = new Random(filters);
        Map<String, Subscription> model = new HashMap<>();
        for (int step = 1; step <= 100_000; step++) {
            TopicFilter filter = TopicFilter.of("f/" + random.nextInt(filters));
            String shareName = random.nextInt(4) == 0 ? "s" + random.nextInt(2) : null;
            String key = shareName + "|" + filter;
            if (random.nextInt(100) < 55) {
                Subscription added = subscription(filter, shareName, step);
                table.put(added);
                model.put(key, added);
            } else {
                assertThat(table.remove(filter, shareName)).isSameAs(model.remove(key));
            }
            assertThat(table.get(filter, shareName)).isSameAs(model.get(key));
            assertThat(table.size()).isEqualTo(model.size());
        }
        Set<Subscription> visited = new HashSet<>();
        table.forEach(visited::add);
        assertThat(visited).isEqualTo(new HashSet<>(model.values()));
        model.values()
                .forEach(expected -> assertThat(table.get(expected.filter(), expected.shareName()))
                        .isSameAs(expected));
    }

    @Test
    void isEmptyAtFirstAndAfterClearing() {
        TopicFilter filter = TopicFilter.of("f");
        assertThat(table.get(filter, null)).isNull();
        assertThat(table.remove(filter, null)).isNull();
        table.put(subscription(filter, null, 1));
        table.clear();
        assertThat(table.size()).isZero();
        assertThat(table.get(filter, null)).isNull();
    }
}
