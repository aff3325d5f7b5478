// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Locale;

/** A listener could not be bound, for example because its port is in use. */
public final class BindFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    // Numbers of Linux and of macOS.
    private static final List<Integer> IN_USE = List.of(98, 48);
    private static final List<Integer> DENIED = List.of(13);
    private static final List<Integer> NOT_HERE = List.of(99, 49);
    private static final List<Integer> NO_FAMILY = List.of(97, 47);

    private final String listener;
    private final String address;

    /**
     * Creates the exception.
     *
     * @param listener the listener's name
     * @param address the address to bind
     * @param cause the error of the operating system
     */
    public BindFailedException(String listener, String address, Throwable cause) {
        super("listener " + listener + " cannot be bound: " + reason(address, cause), cause);
        this.listener = listener;
        this.address = address;
    }

    /**
     * The listener.
     *
     * @return its name in the configuration
     */
    public String listener() {
        return listener;
    }

    /**
     * The address to bind.
     *
     * @return host and port, as configured
     */
    public String address() {
        return address;
    }

    /**
     * The error as text: Netty's native transports have {@code bind(..) failed with error(-98)}, with the numbers of the operating system.
     */
    private static String reason(String address, Throwable cause) {
        int colon = address.lastIndexOf(':');
        String host = colon < 0 ? address : address.substring(0, colon);
        String port = "port " + address.substring(colon + 1);
        String said = String.valueOf(cause.getMessage());
        int remark = said.indexOf(" (");
        String more = remark < 0 ? "" : said.substring(remark);
        if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
            return "there is no host " + host + more;
        } else if (says(said, "already in use", IN_USE)) {
            return port + " on " + host + " is already in use" + more;
        } else if (says(said, "permission denied", DENIED)) {
            return "the user " + System.getProperty("user.name") + " may not use " + port + " on " + host
                    + "; ports below 1024 take root or the capability CAP_NET_BIND_SERVICE" + more;
        } else if (says(said, "cannot assign requested address", NOT_HERE) || said.contains("Can't assign")) {
            return "no network interface of this machine has the address " + host + more;
        } else if (says(said, "address family not supported", NO_FAMILY)) {
            return "this machine does not support the kind of address that " + host + " is" + more;
        }
        return address + ": " + (cause.getMessage() == null ? cause.getClass().getSimpleName() : said);
    }

    private static boolean says(String message, String words, List<Integer> numbers) {
        return message.toLowerCase(Locale.ROOT).contains(words)
                || numbers.stream().anyMatch(number -> message.contains("error(-" + number + ")"));
    }
}
