// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.1.2, true",
        "10.0.0.0/8, 11.0.0.1, false",
        "192.0.2.0/25, 192.0.2.127, true",
        "192.0.2.0/25, 192.0.2.128, false",
        "192.0.2.7, 192.0.2.7, true",
        "192.0.2.7, 192.0.2.6, false",
        "192.0.2.99/24, 192.0.2.1, true",
        "0.0.0.0/0, 203.0.113.1, true",
        "0.0.0.0/0, 2001:db8::1, false",
        "2001:db8::/32, 2001:db8:1::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false",
        "::/0, 2001:db8::1, true",
        "::1, ::1, true",
        "127.0.0.0/8, ::ffff:127.0.0.1, true",
    })
    void holdsTheAddressesWithItsPrefix(String range, String address, boolean contained) {
        AddressRange parsed = AddressRange.parse(range);

        assertThat(parsed).isNotNull();
        assertThat(parsed.contains(Clients.address(address).getAddress())).isEqualTo(contained);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/8",
                "10.0.0.0/",
                "10.0.0.0/33",
                "10.0.0.0/-1",
                "10.0.0.0/8x",
                "10.0.0.0/0000008",
                "10.0.0/8",
                "::/129",
                "localhost",
                "example.com/8",
                "fe80::1%eth0",
                "::ffff:10.0.0.0/104",
                "10.0.0.0/8/8"
            })
    void otherTextIsNoRange(String text) {
        assertThat(AddressRange.parse(text)).isNull();
    }
}
