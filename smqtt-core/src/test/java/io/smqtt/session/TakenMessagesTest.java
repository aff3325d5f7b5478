// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TakenMessagesTest {

    private final TakenMessages taken = new TakenMessages();

    @Test
    void allSessionsThatHaveTakenAMessageAreKnown() {
        long[] keys = new long[1_000];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = TakenMessages.newKey();
            taken.took(keys[i], 77);
        }

        for (long key : keys) {
            assertThat(taken.knows(key, 77)).isTrue();
        }
        assertThat(taken.knows(TakenMessages.newKey(), 77)).isFalse();
        assertThat(taken.knows(keys[0], 78)).isFalse();
    }

    @Test
    void aFullTableKnowsAllOfItsMessages() { // their identifiers follow each other
        long key = TakenMessages.newKey();
        int id = 0;
        while (!taken.isFull()) {
            taken.took(key, ++id);
            taken.took(key, id); // again: takes no room
        }

        assertThat(id).isEqualTo(TakenMessages.CAPACITY);
        for (int known = 1; known <= id; known++) {
            assertThat(taken.knows(key, known)).isTrue();
        }
        for (int unknown = id + 1; unknown <= 2 * id; unknown++) {
            assertThat(taken.knows(key, unknown)).isFalse();
        }
    }

    @Test
    void aMessageComesOnceByOrdinarySubscriptionsAndOnceByEachSharedOne() {
        long[] ids = {
            idOf("a", 5), idOf("$share/g/a", 5), idOf("$share/h/a", 5), idOf("$share/g/#", 5), idOf("$share/g/a", 6)
        };

        assertThat(ids).doesNotHaveDuplicates();
        assertThat(idOf("#", 5)).isEqualTo(ids[0]);
        assertThat(idOf("$share/g/a", ApplicationMessage.NO_ID)).isEqualTo(ApplicationMessage.NO_ID);
    }

    private static long idOf(String filter, long id) {
        ApplicationMessage message = ApplicationMessage.builder("a").build().accepted(id, 0, "p");
        return TakenMessages.idOf(
                new StoredMessage(1, message, filter, QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING));
    }

    @Test
    void aMessageWithoutAnIdentifierIsNotKnown() {
        long key = TakenMessages.newKey();
        taken.took(key, ApplicationMessage.NO_ID);

        assertThat(taken.knows(key, ApplicationMessage.NO_ID)).isFalse();
    }

    @Test
    void noTwoSessionsHaveTheSameKey() {
        Set<Long> keys = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            assertThat(keys.add(TakenMessages.newKey())).isTrue();
        }
    }
}
