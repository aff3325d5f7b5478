// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The connections of the management port. Immutable.
 *
 * @param withToken those whose last request has shown the token
 * @param others all others
 * @param refusedRequests requests with the token that were refused because too many were being answered, since the start
 */
public record ManagementStatus(Connections withToken, Connections others, long refusedRequests) {

    /**
     * Selects the connections of one class.
     *
     * @param hasToken whether the last request of each has shown the token
     * @return their counts
     */
    public Connections of(boolean hasToken) {
        return hasToken ? withToken : others;
    }

    /**
     * The connections of one class.
     *
     * @param open how many are open now
     * @param closed how many were closed since the start to make room for others of the class
     */
    public record Connections(int open, long closed) {}
}
