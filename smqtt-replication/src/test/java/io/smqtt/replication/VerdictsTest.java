// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

class VerdictsTest {

    private final List<Address> judged = new ArrayList<>();
    private final Verdicts<String> verdicts = new Verdicts<>();

    private String of(Address address, Object basis) {
        return verdicts.of(address, basis, each -> {
            judged.add(each);
            return "verdict " + judged.size();
        });
    }

    @Test
    void anAddressIsJudgedOnceUntilTheBasisChanges() {
        Address first = UUID.randomUUID();
        Address second = UUID.randomUUID();
        assertThat(of(first, "a")).isEqualTo("verdict 1");
        assertThat(of(second, "a")).isEqualTo("verdict 2");
        assertThat(of(first, "a")).isEqualTo("verdict 1");

        assertThat(of(first, "b")).isEqualTo("verdict 3");
        assertThat(judged).containsExactly(first, second, first);
    }

    @Test
    void theNumberOfAddressesIsBounded() {
        Address first = UUID.randomUUID();
        of(first, "a");
        for (int i = 0; i <= 1_000; i++) {
            of(UUID.randomUUID(), "a");
        }
        int before = judged.size();
        of(first, "a");
        assertThat(judged).hasSize(before + 1);
    }
}
