package io.streamproof.proof;

import java.net.SocketException;
import org.apache.spark.api.python.Py4JServer;
import py4j.ClientServer;
import py4j.GatewayServer;
import py4j.GatewayServerListener;
import py4j.Py4JServerConnection;

/**
 * Has the answers to a child sent at once. A socket waits with what it is given in several writes, as long answers are, until the first is
 * acknowledged; Linux puts that off by 40 milliseconds.
 */
public final class NoDelay implements GatewayServerListener {
  /** The gateway of one child, which listens already. */
  public static void on(Py4JServer gateway) {
    Object server = gateway.server();
    GatewayServer listening = server instanceof ClientServer both ? (GatewayServer) both.getJavaServer() : (GatewayServer) server;
    listening.addListener(new NoDelay());
  }

  @Override
  public void connectionStarted(Py4JServerConnection connection) {
    try {
      connection.getSocket().setTcpNoDelay(true);
    } catch (SocketException closed) {
      return; // it only costs time
    }
  }

  @Override
  public void connectionError(Exception error) {}

  @Override
  public void connectionStopped(Py4JServerConnection connection) {}

  @Override
  public void serverError(Exception error) {}

  @Override
  public void serverPostShutdown() {}

  @Override
  public void serverPreShutdown() {}

  @Override
  public void serverStarted() {}

  @Override
  public void serverStopped() {}
}
