// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The connections of the management port. Immutable.
 *
 * @param withToken connections whose last request had the token
 * @param others all other connections
 * @param refusedRequests requests with the token refused since the start because the maximum number was in progress
 */
public record ManagementStatus(Connections withToken, Connections others, long refusedRequests) {

    /**
     * Returns the connections of one class.
     *
     * @param hasToken whether the last request had the token
     * @return their counts
     */
    public Connections of(boolean hasToken) {
        return hasToken ? withToken : others;
    }

    /**
     * The connections of one class.
     *
     * @param open number of open connections
     * @param closed number of connections closed since the start to make room for others of the class
     */
    public record Connections(int open, long closed) {}
}
