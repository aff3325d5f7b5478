// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClientNetwork;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConnectionAdmissionTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // wraps around in the tests

    @Test
    void whatIsRefusedIsNotCounted() throws UnknownHostException {
        ConnectionAdmission admission =
                new ConnectionAdmission(Configs.limits(2, 2, 1, 0), new ConnectRates(0, nanos::get));
        InetAddress address = InetAddress.getByName("192.0.2.1");

        assertThat(admission.opened()).isNull();
        assertThat(admission.from(address)).isNull();
        assertThat(admission.opened()).isNull();
        assertThat(admission.from(address)).isEqualTo("limits.max-pending-connections-per-address");
        assertThat(admission.opened()).isEqualTo("limits.max-connections");
        assertThat(admission.openCount()).isEqualTo(2);
        assertThat(admission.pendingCount()).isEqualTo(2);
    }

    @Test
    void addressesAreForgottenWithTheirLastPendingConnection() throws UnknownHostException {
        ConnectionAdmission admission =
                new ConnectionAdmission(Configs.limits(2000, 2000, 10, 0), new ConnectRates(0, nanos::get));
        for (int i = 0; i < 1000; i++) {
            admission.opened();
            admission.from(InetAddress.getByAddress(new byte[] {10, 0, (byte) (i >> 8), (byte) i}));
        }
        assertThat(admission.addressCount()).isEqualTo(1000);
        for (int i = 0; i < 1000; i++) {
            admission.settled(InetAddress.getByAddress(new byte[] {10, 0, (byte) (i >> 8), (byte) i}));
            admission.closed();
        }
        assertThat(admission.addressCount()).isZero();
        assertThat(admission.openCount()).isZero();
        assertThat(admission.pendingCount()).isZero();
    }

    @Test
    void anAddressMayConnectAsOftenAsItsRateGrants() throws UnknownHostException {
        ConnectRates rates = new ConnectRates(4, nanos::get);
        InetAddress one = InetAddress.getByName("192.0.2.1");
        InetAddress two = InetAddress.getByName("192.0.2.2");

        for (int i = 0; i < 4; i++) {
            assertThat(rates.allow(one)).isTrue();
        }
        assertThat(rates.allow(one)).isFalse();
        assertThat(rates.allow(two)).isTrue();
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(250));
        assertThat(rates.allow(one)).isTrue();
        assertThat(rates.allow(one)).isFalse();
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertThat(rates.addressCount()).isZero();
        for (int i = 0; i < 4; i++) {
            assertThat(rates.allow(one)).isTrue();
        }
        assertThat(rates.allow(one)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "2001:db8:1:2:3:4:5:6, 2001:db8:1:2::",
        "::1, ::1",
    })
    void connectionsAreCountedByAddressOrNetwork(String address, String key) throws UnknownHostException {
        assertThat(ClientNetwork.of(InetAddress.getByName(address))).isEqualTo(InetAddress.getByName(key));
    }

    @Test
    void aMappedAddressIsAnIpv4Address() throws UnknownHostException {
        InetAddress mapped = java.net.Inet6Address.getByAddress(
                null, new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 127, 0, 0, 1}, -1);
        assertThat(mapped).isInstanceOf(java.net.Inet6Address.class);
        assertThat(ClientAddresses.unmapped(new InetSocketAddress(mapped, 7)))
                .isEqualTo(new InetSocketAddress("127.0.0.1", 7));
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true",
        "10.0.0.0/8, 11.0.0.1, false",
        "192.0.2.128/25, 192.0.2.200, true",
        "192.0.2.128/25, 192.0.2.100, false",
        "192.0.2.1, 192.0.2.1, true",
        "192.0.2.1, 192.0.2.2, false",
        "0.0.0.0/0, 8.8.8.8, true",
        "0.0.0.0/0, ::1, false",
        "fd00::/9, fd7f::1, true",
        "fd00::/9, fd80::1, false",
    })
    void aNetworkHoldsItsAddresses(String network, String address, boolean held) throws UnknownHostException {
        assertThat(Network.parse("key", network).contains(InetAddress.getByName(address)))
                .isEqualTo(held);
    }
}
